/**
 * Which processes of a table belong to one spawned runtime. Pure: rows and evidence in, rows out.
 *
 * A tree is more than descent: a shell may begin its own session, and a process whose parent died is adopted by init.
 * So a process belongs when
 *
 *   M1  it is one that is known to belong (the root, or one seen earlier), by pid *and* start time;
 *   M2  it carries the marker in its environment;
 *   M3  its parent belongs;
 *   M4  its group or session is led by a process that belongs;
 *   M5  its group or session was led by a process that belonged a moment ago and is gone: the number can't have been
 *       given to anyone else while the group or session still has members;
 *   M6  as M5, but for a leader that went longer ago, so that the number might have been used again: only where the
 *       environment can't be read (where it can, M2 decides) and it began no earlier than the leader.
 *
 * Never a member: this very process and what it runs inside. And when this process itself runs inside the tree (someone
 * restarted the host from a shell of an agent), its own children aren't either: they inherited every mark.
 */
import { type ProcessIdentity, processKey, type ProcessRow } from "./table-row.ts";

/** What is known about a tree before looking at the table. */
export interface TreeEvidence {
  readonly marker?: string | undefined;
  /** Processes known to belong (M1); those that are gone still count as leaders of long ago (M6). */
  readonly known: ReadonlyArray<Pick<ProcessIdentity, "pid" | "startTime">>;
  /** Pids of members that led a group or session moments ago (M5). */
  readonly recentLeaders: ReadonlySet<number>;
}

/** The rows that belong to the tree, zombies included. `self` is the pid of the asking process. */
export const treeMembers = (
  rows: ReadonlyArray<ProcessRow>,
  evidence: TreeEvidence,
  self: number,
): ReadonlyArray<ProcessRow> => {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const members = closure(rows, byPid, evidence);
  const outer = ancestors(byPid, self);
  const inner = members.has(self) ? descendants(rows, self) : new Set<number>();
  return rows.filter(({ pid }) => members.has(pid) && !outer.has(pid) && !inner.has(pid));
};

const closure = (
  rows: ReadonlyArray<ProcessRow>,
  byPid: ReadonlyMap<number, ProcessRow>,
  evidence: TreeEvidence,
): ReadonlySet<number> => {
  const known = evidence.known.filter((one) => one.startTime !== "");
  const knownKeys = new Set(known.map(processKey));
  const knownByPid = new Map(known.map((one) => [one.pid, one]));
  const members = new Set<number>();

  const byItself = (row: ProcessRow): boolean =>
    knownKeys.has(processKey(row)) ||
    (evidence.marker !== undefined && row.marker.state === "carried" && row.marker.marker === evidence.marker);
  const byLeader = (row: ProcessRow, leader: number | undefined): boolean => {
    if (leader === undefined || leader <= 1) return false;
    if (members.has(leader)) return true;
    if (byPid.has(leader)) return false;
    if (evidence.recentLeaders.has(leader)) return true;
    const gone = knownByPid.get(leader);
    if (gone === undefined || row.marker.state !== "unreadable") return false;
    return Number(row.startTime) >= Number(gone.startTime);
  };

  for (const row of rows) if (byItself(row)) members.add(row.pid);
  // Membership spreads until nothing is added; as many rounds as the tree is deep, at worst.
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const row of rows) {
      if (members.has(row.pid)) continue;
      if ((row.ppid > 1 && members.has(row.ppid)) || byLeader(row, row.pgid) || byLeader(row, row.sid))
        members.add(row.pid);
    }
  }
  return members;
};

/** What a process runs inside, up to init, which is everyone's last ancestor and adopts every orphan. */
const ancestors = (byPid: ReadonlyMap<number, ProcessRow>, pid: number): ReadonlySet<number> => {
  const found = new Set([0, 1]);
  for (let at = byPid.get(pid)?.ppid; at !== undefined && !found.has(at); at = byPid.get(at)?.ppid) found.add(at);
  return found;
};

/** A process and everything below it. */
const descendants = (rows: ReadonlyArray<ProcessRow>, root: number): Set<number> => {
  const found = new Set([root]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const row of rows) if (found.has(row.ppid)) found.add(row.pid);
  }
  return found;
};
