/**
 * Text that is not in the log yet (design section 10).
 *
 *      |──── in the log ────|──── live: offset … ────|
 *      0                  logged
 *
 * L1 A frame that is known already changes nothing; one that begins behind what is known waits for the log.
 * L2 A raised revision forgets the live text of its row, never what the log has.
 * L3 A frame counts only once everything up to its `after` was applied.
 * L4 After `synced` the server sends open text whole: revisions of before say nothing (it may be another process).
 */
import type { TimelineRow } from "@tributary/contracts";
import type { LiveText } from "@tributary/contracts/api";
import type { Draft } from "./events.ts";
import type { LiveEntry, State } from "./state.ts";
import { find, type RowKind } from "./timeline.ts";

const kinds: { readonly [S in LiveText["stream"]]: RowKind } = {
  assistant_text: "message",
  reasoning: "reasoning",
  reasoning_summary: "reasoning",
  command_output: "activity",
};

/** A command's output is a window: this much of its live end is kept, twice as much before it is cut (UTF-16 units). */
const outputUnits = 32_768;

const rowOf = (state: State, { frame }: Pick<LiveEntry, "frame">): TimelineRow | undefined =>
  find(state.timeline, kinds[frame.stream], frame.rowId);

const logged = (row: TimelineRow | undefined): number => {
  switch (row?.kind) {
    case "message":
    case "reasoning":
      return row.length;
    case "activity":
      return row.commandOutput?.head.length ?? 0;
    default:
      return 0;
  }
};

const keep = (draft: Draft, rowId: string, entry: LiveEntry | undefined): void => {
  const live = new Map(draft.live);
  if (entry === undefined) live.delete(rowId);
  else live.set(rowId, entry);
  draft.live = live;
};

/** The log has more of a row, or all that there will be: what is in it is live no more. */
export const settleLive = (draft: Draft, rowId: string, over?: "over"): void => {
  const entry = draft.live.get(rowId);
  if (entry === undefined) return;
  const row = rowOf(draft, entry);
  const upTo = logged(row);
  const rest = entry.text.slice(Math.max(0, upTo - entry.offset));
  if (over === undefined) keep(draft, rowId, { ...entry, offset: Math.max(entry.offset, upTo), text: rest });
  // The revision is kept until the turn is over: a frame of before must not come back.
  else keep(draft, rowId, { ...entry, offset: upTo, text: "" });
};

/** A turn that is over has all its text in the log; so has a session. */
export const forgetLive = (draft: Draft, turnId: string | undefined): void => {
  if (draft.live.size === 0) return;
  draft.live = new Map([...draft.live].filter(([, { frame }]) => turnId !== undefined && frame.turnId !== turnId));
};

const apply = (draft: Draft, { text, offset, ...frame }: LiveText): void => {
  const before = draft.live.get(frame.rowId);
  if (before !== undefined && frame.revision < before.revision) return;
  const row = find(draft.timeline, kinds[frame.stream], frame.rowId);
  if (row === undefined && frame.stream === "command_output") return;
  const upTo = logged(row);
  const known =
    before?.revision === frame.revision && before.offset + before.text.length > upTo
      ? before
      : { offset: upTo, text: "" };
  const end = known.offset + known.text.length;
  const at = before?.at ?? draft.facts?.updatedAt ?? "";
  const entry = { frame, revision: frame.revision, at };
  if (offset > end) {
    // The middle of an output was left out; of other text the log will tell.
    if (frame.stream === "command_output") keep(draft, frame.rowId, { ...entry, offset, text });
    return;
  }
  const more = text.slice(end - offset);
  if (more === "" && before?.revision === frame.revision) return;
  keep(draft, frame.rowId, window({ ...entry, offset: known.offset, text: known.text + more }));
};

const window = (entry: LiveEntry): LiveEntry => {
  const over = entry.text.length - outputUnits;
  if (entry.frame.stream !== "command_output" || over < outputUnits) return entry;
  return { ...entry, offset: entry.offset + over, text: entry.text.slice(over) };
};

export const applyLive = (draft: Draft, frame: LiveText): void => {
  if (frame.threadId !== draft.threadId) return;
  if (frame.after > draft.sequence) draft.early = [...draft.early, frame];
  else apply(draft, frame);
};

/** The log went on: frames that stand on it count now. `all`: the server has sent everything there is. */
export const applyEarly = (draft: Draft, all: boolean): void => {
  if (draft.early.length === 0) return;
  const { early } = draft;
  const due = (frame: LiveText): boolean => all || frame.after <= draft.sequence;
  if (!early.some(due)) return;
  draft.early = early.filter((frame) => !due(frame));
  for (const frame of early) if (due(frame)) apply(draft, frame);
};

/** A row of which the log has nothing yet stands behind all others. */
const provisional = ({ frame, text, at }: LiveEntry): TimelineRow | undefined => {
  const { turnId, agentPath, rowId, stream } = frame;
  const common = {
    rowId,
    position: Number.MAX_SAFE_INTEGER,
    ...(turnId === undefined ? {} : { turnId }),
    agentPath,
    at,
    text,
    length: text.length,
    streaming: true,
  };
  if (stream === "assistant_text") return { kind: "message", ...common, role: "assistant" };
  if (stream === "command_output") return undefined;
  return { kind: "reasoning", ...common, reasoning: stream === "reasoning" ? "full" : "summary" };
};

/** How a row looks with its live text; undefined where there is nothing to show. */
const shown = (row: TimelineRow | undefined, entry: LiveEntry): TimelineRow | undefined => {
  const { text, offset } = entry;
  if (text === "") return undefined;
  switch (row?.kind) {
    case undefined:
      return provisional(entry);
    case "message":
    case "reasoning":
      // What a page has cut can't be continued.
      if (row.text.length !== row.length) return undefined;
      return { ...row, text: row.text + text, length: row.length + text.length };
    case "activity": {
      const head = row.commandOutput?.head ?? "";
      return offset === head.length
        ? { ...row, commandOutput: { head: head + text, omitted: 0, tail: "" } }
        : { ...row, commandOutput: { head, omitted: offset - head.length, tail: text } };
    }
    default:
      return undefined;
  }
};

/** Rows stay the same object while neither the log's row nor the live text changes. */
const cache = new WeakMap<
  LiveEntry,
  { readonly row: TimelineRow | undefined; readonly shown: TimelineRow | undefined }
>();

/** Rows that look different with live text, by position, and those that the log does not have yet. */
export const shownRows = (state: State) => {
  const changed = new Map<number, TimelineRow>();
  const added: Array<TimelineRow> = [];
  for (const entry of state.live.values()) {
    const row = rowOf(state, entry);
    let made = cache.get(entry);
    if (made === undefined || made.row !== row) {
      made = { row, shown: shown(row, entry) };
      cache.set(entry, made);
    }
    if (made.shown === undefined) continue;
    if (row === undefined) added.push(made.shown);
    else changed.set(row.position, made.shown);
  }
  return { changed, added };
};
