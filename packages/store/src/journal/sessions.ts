/**
 * The sessions of the journal, each under a small number, and the appending of their records. Synchronous; `append` runs
 * inside a group's transaction and is visible to readers from `commit` on.
 */
import type { RuntimeEvent } from "@tributary/contracts";
import type { Connection } from "../sqlite/Connection.ts";
import { StoreError } from "../StoreError.ts";
import { Lru } from "../Lru.ts";
import type { JournalEntry } from "./Journal.ts";
import { pack } from "./pack.ts";

export interface Session {
  readonly id: number;
  readonly lastSeq: number;
  /** Records up to here are gone. */
  readonly prunedTo: number;
}

export interface StoredBlob {
  readonly hash: string;
  readonly bytes: number;
}

export interface Sessions {
  readonly find: (threadId: string, generation: number) => Session | undefined;
  /** Checks first, then writes: what throws a `StoreError` has written nothing. Returns what was stored. */
  readonly append: (
    entries: ReadonlyArray<JournalEntry>,
    blobOf: (entry: JournalEntry) => StoredBlob | undefined,
  ) => ReadonlyArray<JournalEntry>;
  /** Adds to the bytes that the journal takes. */
  readonly count: (bytes: number) => void;
  readonly bytes: () => number;
  /** The group is committed. */
  readonly commit: () => void;
  /** The group was undone, or rows were changed behind the cache. */
  readonly forget: () => void;
}

const keptSessions = 1_000;

const keyOf = (threadId: string, generation: number): string => `${generation} ${threadId}`;

/** Entries of one session that follow one another: a call has few of them. */
const runsOf = (entries: ReadonlyArray<JournalEntry>): ReadonlyArray<ReadonlyArray<JournalEntry>> => {
  const runs: Array<ReadonlyArray<JournalEntry>> = [];
  let from = 0;
  for (let at = 1; at <= entries.length; at += 1) {
    const before = entries[at - 1];
    const entry = entries[at];
    if (entry !== undefined && entry.threadId === before?.threadId && entry.generation === before.generation) continue;
    runs.push(entries.slice(from, at));
    from = at;
  }
  return runs;
};

export const makeSessions = (connection: Connection): Sessions => {
  const sql = {
    find: connection.prepare(
      "SELECT session, last_seq, pruned_to FROM sessions WHERE thread_id = ? AND generation = ?",
    ),
    create: connection.prepare(
      "INSERT INTO sessions (session, thread_id, generation, last_seq, pruned_to) VALUES (?, ?, ?, ?, 0)",
    ),
    advance: connection.prepare("UPDATE sessions SET last_seq = ? WHERE session = ?"),
    pack: connection.prepare(
      "INSERT INTO packs (session, first_seq, last_seq, at, bytes, heads, frames) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    seen: connection.prepare("INSERT INTO event_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    use: connection.prepare("INSERT INTO blob_uses (hash, thread_id, session, seq, bytes) VALUES (?, ?, ?, ?, ?)"),
    count: connection.prepare(
      "INSERT INTO totals (name, value) VALUES ('bytes', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
    ),
    bytes: connection.prepare("SELECT value FROM totals WHERE name = 'bytes'"),
    newest: connection.prepare("SELECT max(session) AS session FROM sessions"),
  };
  let known = new Lru<Session>(keptSessions);
  const changed = new Map<string, Session>();
  let newest = Number(sql.newest.get()?.["session"] ?? 0);

  const find = (threadId: string, generation: number): Session | undefined => {
    const name = keyOf(threadId, generation);
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const row = sql.find.get(threadId, generation);
    if (row === undefined) return undefined;
    const session = {
      id: Number(row["session"]),
      lastSeq: Number(row["last_seq"]),
      prunedTo: Number(row["pruned_to"]),
    };
    known.set(name, session);
    return session;
  };

  /** With what the group did before. */
  const current = (threadId: string, generation: number): Session | undefined =>
    changed.get(keyOf(threadId, generation)) ?? find(threadId, generation);

  const count = (bytes: number): void => {
    if (bytes !== 0) sql.count.run(bytes);
  };

  /** Each run's records follow what its session has, and one another. */
  const check = (runs: ReadonlyArray<ReadonlyArray<JournalEntry>>): void => {
    const next = new Map<string, number>();
    for (const run of runs) {
      const [first] = run;
      if (first === undefined) continue;
      const { threadId, generation } = first;
      const name = keyOf(threadId, generation);
      let expected = next.get(name) ?? (current(threadId, generation)?.lastSeq ?? 0) + 1;
      for (const { seq } of run) {
        if (seq !== expected) {
          throw new StoreError({
            reason: "fault",
            message: `Record ${seq} of thread ${threadId}, generation ${generation} can't be appended: ${expected} is next.`,
          });
        }
        expected += 1;
      }
      next.set(name, expected);
    }
  };

  const advance = (threadId: string, generation: number, lastSeq: number): Session => {
    const before = current(threadId, generation);
    if (before === undefined) {
      newest += 1;
      sql.create.run(newest, threadId, generation, lastSeq);
    } else sql.advance.run(lastSeq, before.id);
    const session = { id: before?.id ?? newest, lastSeq, prunedTo: before?.prunedTo ?? 0 };
    changed.set(keyOf(threadId, generation), session);
    return session;
  };

  /** Leaves out events that the session has seen. */
  const unseen = (session: Session, entry: JournalEntry): JournalEntry => {
    // Most events are deltas, which have no id.
    if (entry.events.every(({ id }) => id === undefined)) return entry;
    const isNew = ({ id }: RuntimeEvent): boolean => id === undefined || sql.seen.run(session.id, id) > 0;
    const events = entry.events.filter(isNew);
    return events.length === entry.events.length ? entry : { ...entry, events };
  };

  const appendTo = (
    entries: ReadonlyArray<JournalEntry>,
    blobOf: (entry: JournalEntry) => StoredBlob | undefined,
  ): ReadonlyArray<JournalEntry> => {
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) return [];
    const session = advance(first.threadId, first.generation, last.seq);
    let bytes = 0;
    const hashes = new Map<JournalEntry, string>();
    const stored = entries.map((entry) => {
      const kept = unseen(session, entry);
      const blob = blobOf(entry);
      if (blob !== undefined) {
        sql.use.run(blob.hash, entry.threadId, session.id, entry.seq, blob.bytes);
        hashes.set(kept, blob.hash);
        bytes += blob.bytes;
      }
      return kept;
    });
    for (const packed of pack(stored, (entry) => hashes.get(entry))) {
      const size = packed.heads.length + packed.frames.length;
      sql.pack.run(session.id, packed.firstSeq, packed.lastSeq, packed.at, size, packed.heads, packed.frames);
      bytes += size;
    }
    count(bytes);
    return stored;
  };

  return {
    find,
    append: (entries, blobOf) => {
      const runs = runsOf(entries);
      check(runs);
      return runs.flatMap((run) => appendTo(run, blobOf));
    },
    count,
    bytes: () => Number(sql.bytes.get()?.["value"] ?? 0),
    commit: () => {
      for (const [name, session] of changed) known.set(name, session);
      changed.clear();
    },
    forget: () => {
      changed.clear();
      known = new Lru(keptSessions);
    },
  };
};
