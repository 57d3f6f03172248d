/**
 * What shells say beside their own row, read for a page of threads at a time. Each statement goes from the given thread
 * ids into an index over what is open or newest: the cost follows the page, never the threads' histories.
 */
import type { InputView, RequestKind, ThreadShell, TurnView } from "@tributary/contracts";
import { compact, jsonOf, literalOf, numberOf, optNumber, optString, optText, stringOf, type Row } from "../cells.ts";
import { groupBy, indexBy, keys, type Reader } from "./reader.ts";
import { textHead } from "./texts.ts";
import { turnColumns, turnView } from "./turns.ts";

type Preview = NonNullable<ThreadShell["preview"]>;
type Changes = NonNullable<ThreadShell["changes"]>;
type UsageFold = NonNullable<ThreadShell["usage"]>;

export interface OpenRequest {
  readonly id: string;
  readonly kind: RequestKind;
  readonly title: string | undefined;
  readonly blocking: boolean;
  readonly at: string;
}

/** Something that streams or runs just now. */
export interface OpenWork {
  readonly kind: string;
  readonly title: string | undefined;
  readonly since: string;
}

export interface ShellFacts {
  readonly inputs: (threadId: string) => ReadonlyArray<Pick<InputView, "state" | "mode">>;
  /** Pending, in the order in which they were asked. */
  readonly requests: (threadId: string) => ReadonlyArray<OpenRequest>;
  readonly runningTasks: (threadId: string) => number;
  /** The newest turn; at most this one runs. */
  readonly turn: (threadId: string) => TurnView | undefined;
  /** What the newest turn began with. */
  readonly turnInputs: (threadId: string) => ReadonlyArray<string>;
  readonly usage: (threadId: string) => UsageFold | undefined;
  readonly preview: (threadId: string) => Preview | undefined;
  readonly changes: (threadId: string) => Changes | undefined;
  readonly work: (threadId: string) => OpenWork | undefined;
}

export const shellFacts = (reader: Reader, threadIds: ReadonlyArray<string>): ShellFacts => {
  const ids = keys(threadIds);
  const inputs = groupBy(reader.all(openInputs, ids), "thread_id");
  const requests = groupBy(reader.all(pendingRequests, ids), "thread_id");
  const tasks = indexBy(reader.all(runningTasks, ids), "thread_id");
  const turns = indexBy(reader.all(newestTurns, ids), "thread_id");
  const usage = groupBy(reader.all(reportedUsage, ids), "thread_id");
  const spoken = indexBy(reader.all(newestSpoken, ids), "thread_id");
  const diffs = indexBy(reader.all(newestDiffs, ids), "thread_id");
  const changed = indexBy(reader.all(newestChanged, ids), "thread_id");
  const running = threadIds.filter((id) => turns.get(id)?.["state"] === "running");
  const work = running.length === 0 ? new Map<string, Row>() : newestOf(reader.all(openWork, keys(running)));

  return {
    inputs: (id) =>
      (inputs.get(id) ?? []).map((row) => ({
        state: literalOf<InputView["state"]>(row, "state"),
        mode: literalOf<InputView["mode"]>(row, "mode"),
      })),
    requests: (id) => (requests.get(id) ?? []).toSorted(byPosition).map(openRequest),
    runningTasks: (id) => numberOf(tasks.get(id) ?? { running: 0 }, "running"),
    turn: (id) => map(turns.get(id), turnView),
    turnInputs: (id) => map(turns.get(id), (row) => jsonOf<ReadonlyArray<string>>(row, "input_ids")) ?? [],
    usage: (id) =>
      map((usage.get(id) ?? []).toSorted((a, b) => numberOf(b, "as_of") - numberOf(a, "as_of"))[0], usageFold),
    preview: (id) => map(spoken.get(id), (row) => preview(reader, id, row)),
    changes: (id) => changes(reader, id, diffs.get(id), changed.get(id)),
    work: (id) =>
      map(work.get(id), (row) => ({
        kind: stringOf(row, "kind"),
        title: optText(row, "title"),
        since: stringOf(row, "at"),
      })),
  };
};

const map = <A, B>(value: A | undefined, f: (value: A) => B): B | undefined =>
  value === undefined ? undefined : f(value);

const byPosition = (a: Row, b: Row): number => numberOf(a, "position") - numberOf(b, "position");

const openInputs = `SELECT i.thread_id, i.state, i.mode FROM json_each(?1) AS k CROSS JOIN {inputs} AS i
  WHERE i.thread_id = k.value AND i.open = 1`;

const pendingRequests = `SELECT r.thread_id, r.request_id, r.position, r.kind, r.blocking, r.title, r.at
  FROM json_each(?1) AS k CROSS JOIN {requests} AS r WHERE r.thread_id = k.value AND r.state = 'pending'`;

const openRequest = (row: Row): OpenRequest => ({
  id: stringOf(row, "request_id"),
  kind: literalOf<RequestKind>(row, "kind"),
  title: optText(row, "title"),
  blocking: numberOf(row, "blocking") === 1,
  at: stringOf(row, "at"),
});

const runningTasks = `SELECT k.value AS thread_id,
  (SELECT count(*) FROM {tasks} AS t WHERE t.thread_id = k.value AND t.status = 'in_progress') AS running
  FROM json_each(?1) AS k`;

const newestTurns = `SELECT t.thread_id, t.input_ids, ${turnColumns} FROM json_each(?1) AS k CROSS JOIN {turns} AS t
  WHERE t.thread_id = k.value AND t.position = (SELECT max(n.position) FROM {turns} AS n WHERE n.thread_id = k.value)`;

const reportedUsage = `SELECT u.* FROM json_each(?1) AS k CROSS JOIN {usage} AS u
  WHERE u.thread_id = k.value AND u.as_of IS NOT NULL`;

/** What was reported last, with the basis it counts over. */
const usageFold = (row: Row): UsageFold => ({
  value: compact({
    contextTokens: optNumber(row, "context_tokens"),
    contextWindow: optNumber(row, "context_window"),
    inputTokens: optNumber(row, "input_tokens"),
    cachedInputTokens: optNumber(row, "cached_input_tokens"),
    cacheWriteTokens: optNumber(row, "cache_write_tokens"),
    outputTokens: optNumber(row, "output_tokens"),
    reasoningTokens: optNumber(row, "reasoning_tokens"),
    costUsd: optNumber(row, "cost_usd"),
    costBasis: optString(row, "cost_basis") as UsageFold["value"]["costBasis"],
    model: optString(row, "model"),
    basis: literalOf<UsageFold["value"]["basis"]>(row, "basis"),
  }),
  asOf: numberOf(row, "as_of"),
});

const newestSpoken = `SELECT s.thread_id, s.kind, s.row_id FROM json_each(?1) AS k CROSS JOIN {timeline} AS s
  WHERE s.thread_id = k.value AND s.spoken = 1 AND s.position = (SELECT max(n.position) FROM {timeline} AS n
    WHERE n.thread_id = k.value AND n.spoken = 1 AND n.position IS NOT NULL)`;

const previewUnits = 200;

const preview = (reader: Reader, threadId: string, row: Row): Preview => {
  const id = stringOf(row, "row_id");
  return row["kind"] === "input"
    ? { role: "user", text: textHead(reader, threadId, "input", id, previewUnits) }
    : { role: "assistant", text: textHead(reader, threadId, "message", id, previewUnits) };
};

const newestDiffs = `SELECT d.thread_id, d.turn_id, d.position, d.diff_files, d.diff_added, d.diff_removed
  FROM json_each(?1) AS k CROSS JOIN {turns} AS d
  WHERE d.thread_id = k.value AND d.diff_files IS NOT NULL AND d.position = (SELECT max(n.position) FROM {turns} AS n
    WHERE n.thread_id = k.value AND n.diff_files IS NOT NULL)`;

const newestChanged = `SELECT a.thread_id, a.turn_id, a.position FROM json_each(?1) AS k CROSS JOIN {activities} AS a
  WHERE a.thread_id = k.value AND a.status = 'completed' AND a.changed_paths IS NOT NULL
    AND a.position = (SELECT max(n.position) FROM {activities} AS n
      WHERE n.thread_id = k.value AND n.status = 'completed' AND n.changed_paths IS NOT NULL)`;

const changesOfTurn = `SELECT changed_paths, changed_added, changed_removed FROM {activities}
  WHERE thread_id = ? AND turn_id IS ? AND status = 'completed' AND changed_paths IS NOT NULL`;

/** Of the newest turn that changed files: its diff where the runtime gives one, else what its activities say. */
const changes = (
  reader: Reader,
  threadId: string,
  diff: Row | undefined,
  activity: Row | undefined,
): Changes | undefined => {
  if (
    diff !== undefined &&
    (activity === undefined || diff["turn_id"] === activity["turn_id"] || byPosition(diff, activity) > 0)
  ) {
    const files = numberOf(diff, "diff_files");
    if (files === 0) return undefined;
    return { files, added: numberOf(diff, "diff_added"), removed: numberOf(diff, "diff_removed") };
  }
  if (activity === undefined) return undefined;
  const paths = new Set<string>();
  let added = 0;
  let removed = 0;
  for (const row of reader.all(changesOfTurn, threadId, activity["turn_id"] ?? null)) {
    for (const path of jsonOf<ReadonlyArray<string>>(row, "changed_paths")) paths.add(path);
    added += numberOf(row, "changed_added");
    removed += numberOf(row, "changed_removed");
  }
  return { files: paths.size, added, removed };
};

/** The newest open row of each table; the newest of these is what the agent is at. */
const openWork = `
  SELECT a.thread_id, a.type AS kind, a.title, a.at, a.position FROM json_each(?1) AS k CROSS JOIN {activities} AS a
    WHERE a.thread_id = k.value AND a.status = 'in_progress' AND a.position = (SELECT max(n.position) FROM {activities} AS n
      WHERE n.thread_id = k.value AND n.status = 'in_progress')
  UNION ALL
  SELECT m.thread_id, 'writing', NULL, m.at, m.position FROM json_each(?1) AS k CROSS JOIN {messages} AS m
    WHERE m.thread_id = k.value AND m.streaming = 1 AND m.position = (SELECT max(n.position) FROM {messages} AS n
      WHERE n.thread_id = k.value AND n.streaming = 1)
  UNION ALL
  SELECT r.thread_id, 'thinking', NULL, r.at, r.position FROM json_each(?1) AS k CROSS JOIN {reasoning} AS r
    WHERE r.thread_id = k.value AND r.streaming = 1 AND r.position = (SELECT max(n.position) FROM {reasoning} AS n
      WHERE n.thread_id = k.value AND n.streaming = 1)`;

const newestOf = (rows: ReadonlyArray<Row>): ReadonlyMap<string, Row> =>
  indexBy(rows.toSorted(byPosition), "thread_id");
