/** The whole state of a small store as scenario files show it (design section 11). It lists everything: not for serving. */
import type { AgentPath, ThreadShell, TimelineRow } from "@tributary/contracts";
import { compact, stringOf } from "./cells.ts";
import { inputColumns, inputView } from "./queries/inputs.ts";
import { plan } from "./queries/items.ts";
import type { Reader } from "./queries/reader.ts";
import { completeRows, entryColumns, entryOf, pendingRows } from "./queries/rows.ts";
import { noExtras, shell, type ShellExtras } from "./queries/shells.ts";
import { turnColumns, turnView } from "./queries/turns.ts";

type RowOf<K extends TimelineRow["kind"]> = Extract<TimelineRow, { readonly kind: K }>;

export type ScenarioThread = ReturnType<typeof threadState>;

/** STATE. Arrays in the order of position; absent fields are left out; deleted threads are not listed. */
export interface ScenarioState {
  readonly threads: ReadonlyArray<ScenarioThread>;
}

/** Reads one state. Threads are in the order of their creation. */
export const scenarioState = (reader: Reader, extras: ShellExtras = noExtras): ScenarioState =>
  reader.snapshot(() => ({
    threads: reader.all("SELECT thread_id FROM {threads} WHERE deleted = 0 ORDER BY created_seq").flatMap((row) => {
      const thread = shell(reader, stringOf(row, "thread_id"), extras);
      return thread === undefined ? [] : [threadState(reader, thread)];
    }),
  }));

const threadState = (reader: Reader, { titleFrom, ...shown }: ThreadShell) => {
  // A scenario shows a title that somebody gave.
  const { title: _title, ...untitled } = shown;
  const thread = titleFrom === undefined ? shown : untitled;
  const { threadId } = shown;
  const rows = rowsOf(reader, threadId);
  return compact({
    id: threadId,
    ...thread,
    session: thread.session === undefined ? undefined : sessionState(thread.session),
    messages: only(rows, "message").map(({ rowId, role, turnId, agentPath, text, streaming }) =>
      compact({ id: rowId, role, ...within(turnId, agentPath), text, streaming }),
    ),
    reasoning: only(rows, "reasoning").map(({ rowId, reasoning, turnId, agentPath, text, streaming }) =>
      compact({ id: rowId, kind: reasoning, ...within(turnId, agentPath), text, streaming }),
    ),
    activities: only(rows, "activity").map(({ itemId, type, status, title, detail, turnId, agentPath, settledBy }) =>
      compact({ id: itemId, type, status, title, detail, ...within(turnId, agentPath), settledBy }),
    ),
    tasks: only(rows, "task").map((row) =>
      compact({
        id: row.taskId,
        kind: row.taskKind,
        status: row.status,
        title: row.title,
        summary: row.summary,
        ...within(row.turnId, row.agentPath),
        childPath: row.childPath,
        itemId: row.itemId,
        usage: row.usage,
        settledBy: row.settledBy,
      }),
    ),
    requests: only(rows, "request").map(({ requestId, request, state, answer }) =>
      compact({ id: requestId, kind: request.kind, state, answer }),
    ),
    inputs: reader
      .all(`SELECT ${inputColumns} FROM {inputs} WHERE thread_id = ? ORDER BY position`, threadId)
      .map(inputView)
      .map(({ id, state, turnId, text }) => compact({ id, state, turnId, text })),
    turns: reader
      .all(`SELECT ${turnColumns} FROM {turns} AS t WHERE t.thread_id = ? ORDER BY t.position`, threadId)
      .map(turnView)
      .map(({ id, state, error }) => compact({ id, state, error })),
    plan: plan(reader, threadId),
    proposedPlans: only(rows, "plan").map(({ planId, markdown, state }) => ({ id: planId, markdown, state })),
  });
};

const within = (turnId: string | undefined, agentPath: AgentPath) => ({ turnId, agentPath });

const sessionState = ({ state, generation, activeTurnId, lastError }: NonNullable<ThreadShell["session"]>) =>
  compact({ state, generation, activeTurnId, lastError });

const only = <K extends TimelineRow["kind"]>(rows: ReadonlyArray<TimelineRow>, kind: K): ReadonlyArray<RowOf<K>> =>
  rows.filter((row): row is RowOf<K> => row.kind === kind);

const rowsOf = (reader: Reader, threadId: string): ReadonlyArray<TimelineRow> => {
  const entries = reader
    .all(
      `SELECT ${entryColumns} FROM {timeline} WHERE thread_id = ? AND position IS NOT NULL ORDER BY position`,
      threadId,
    )
    .map(entryOf);
  return completeRows(reader, threadId, pendingRows(reader, threadId, entries));
};
