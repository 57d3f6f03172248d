/**
 * Brings a session's memory back from its checkpoint (4.2): the interpretive state, and held text read again from the
 * journal by (session, item, seq). The same path serves a crash, a failed step and a restart.
 */
import type { RuntimeEvent } from "@tributary/contracts";
import type { Checkpoint, JournalRecord } from "@tributary/store";
import { emptyAccounts } from "../accounts.ts";
import type { Accounts } from "../accounts.ts";
import { retractedFlag, stateVersion, unhashedFlag } from "./interpretive-state.ts";
import type { SavedAccounts, SavedEnded, SavedItem, SavedOutput, SavedState } from "./interpretive-state.ts";
import { emptyMemory } from "../interpret/memory.ts";
import type { Memory } from "../interpret/memory.ts";
import { openOutput, restoreHead, restoreTail } from "../interpret/output-window.ts";
import { root } from "../plain.ts";
import { planKey, pushPlan } from "../interpret/plan-buffer.ts";
import { openSegment } from "../text/segments.ts";
import type { EndedSegment, TextItem } from "../text/segments.ts";
import { keyOf, makeItem, openIn, placeOf } from "../text/text-items.ts";

/** Records of this session after `seq`, rising; fewer than `limit` only at the end. */
export type ReadRecords = (after: number, limit: number) => ReadonlyArray<JournalRecord>;

/** A stretch of one stream of text in the journal that is wanted again. */
interface Want {
  readonly key: string;
  readonly seq: number;
  /** Units from the start of that record on that are not wanted: fewer and fewer as they pass. */
  skip: number;
  /** The first event of that record that counts. */
  readonly index: number;
  left: number;
  readonly take: (text: string, at: Found) => void;
}

/** Where held text was found: the record, how much of it comes before, and when it came. */
interface Found {
  readonly seq: number;
  readonly skip: number;
  readonly at: number;
}

const page = 512;

const outputKey = (place: ReturnType<typeof placeOf>): string => keyOf("message", place).replace("message", "output");

const streamKind = { assistant_text: "message", reasoning: "full", reasoning_summary: "summary" } as const;

/** Which stream of text an event adds to, and what. */
const pieceOf = (event: RuntimeEvent): { readonly key: string; readonly text: string } | undefined => {
  if (event.type === "proposed_plan.delta") {
    const { planId, text } = event.payload;
    return { key: planKey({ planId, turnId: event.turnId, agentPath: event.agentPath ?? root }), text };
  }
  if (event.type !== "content.delta") return undefined;
  const { stream, text } = event.payload;
  const place = placeOf(event);
  return { key: stream === "command_output" ? outputKey(place) : keyOf(streamKind[stream], place), text };
};

/** Gives a want what this record has of it. */
const serve = (
  want: Want,
  { seq, index, at }: { seq: number; index: number; at: number },
  before: number,
  text: string,
): void => {
  if (want.left === 0 || seq < want.seq || (seq === want.seq && index < want.index)) return;
  const start = Math.min(want.skip, text.length);
  want.skip -= start;
  const piece = text.slice(start, start + want.left);
  if (piece === "") return;
  want.left -= piece.length;
  want.take(piece, { seq, skip: before + start, at });
};

const serveRecord = (wants: ReadonlyMap<string, ReadonlyArray<Want>>, { seq, events, at }: JournalRecord): void => {
  const units = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    const piece = pieceOf(event);
    if (piece === undefined) continue;
    const before = units.get(piece.key) ?? 0;
    units.set(piece.key, before + piece.text.length);
    for (const want of wants.get(piece.key) ?? []) serve(want, { seq, index, at }, before, piece.text);
  }
};

/** Reads from the first wanted record up to the checkpoint. */
const reread = (wants: ReadonlyArray<Want>, memory: Memory, read: ReadRecords): void => {
  const byKey = Map.groupBy(wants, (want) => want.key);
  const refused = new Set(memory.refusedRecords);
  let after = Math.min(...wants.map((want) => want.seq)) - 1;
  while (after < memory.seq && wants.some((want) => want.left > 0)) {
    const records = read(after, page);
    for (const record of records) {
      if (record.seq > memory.seq) return;
      after = record.seq;
      if (!refused.has(record.seq)) serveRecord(byKey, record);
    }
    if (records.length < page) return;
  }
};

const restoreEnded = ([number, length, a, b, flags]: SavedEnded): EndedSegment => ({
  ...(number < 0 ? {} : { number }),
  length,
  ...((flags & unhashedFlag) === 0 ? { hash: { a, b } } : {}),
  ...((flags & retractedFlag) === 0 ? {} : { retracted: true }),
});

const restoreOpen = (
  memory: Memory,
  item: TextItem,
  saved: SavedItem,
  now: number,
  ahead: number,
): ReadonlyArray<Want> => {
  const { open } = saved;
  if (open === undefined) return [];
  const { number, committed, hash, held, seq, skip } = open;
  const segment = Object.assign(openSegment(open.late === true), {
    number,
    committed,
    hash: hash === undefined ? undefined : { a: hash[0], b: hash[1] },
    blank: open.blank === true,
    events: open.events,
    firstSeq: seq,
    skip,
    since: now,
  });
  openIn(memory, item, segment);
  const take: Want["take"] = (text, at) => {
    if (segment.held === 0) segment.since = Math.min(at.at - ahead, now);
    segment.pieces.push(text);
    segment.held += text.length;
    item.recordSeq = at.seq;
    item.recordUnits = at.skip + text.length;
  };
  return held === 0 ? [] : [{ key: item.key, seq, skip, index: 0, left: held, take }];
};

const restoreItem = (memory: Memory, saved: SavedItem, now: number, ahead: number): ReadonlyArray<Want> => {
  const { kind, turnId, path, itemId, next, done, ended } = saved;
  const item = makeItem(kind, { turnId, agentPath: path ?? root, itemId });
  item.nextNumber = next;
  item.done = done === true;
  item.ended.push(...(ended ?? []).map(restoreEnded));
  memory.items.set(item.key, item);
  return restoreOpen(memory, item, saved, now, ahead);
};

const restoreOutput = (memory: Memory, saved: SavedOutput, now: number): ReadonlyArray<Want> => {
  const { activityId, turnId, path: agentPath, itemId, logged, pending, events, seq, skip, size, tail } = saved;
  const { taken = logged } = saved;
  const place = { turnId, agentPath, itemId };
  const window = openOutput({ activityId, ...place });
  Object.assign(window, { logged, taken, events, pendingSeq: seq, pendingSkip: skip, since: now, size });
  memory.outputs.set(activityId, window);
  const key = outputKey(place);
  const head: Want = { key, seq, skip, index: 0, left: pending, take: (text, at) => restoreHead(window, text, at) };
  const ring =
    tail === undefined
      ? []
      : [{ key, seq: tail[0], skip: tail[1], index: 0, left: tail[2], take: restoreTail(window) }];
  return [...(pending === 0 ? [] : [head]), ...ring];
};

const restoreAccounts = ({ unknown, refused, ...counts }: SavedAccounts): Accounts => ({
  ...counts,
  refused: { ...refused },
  unknown: new Map(unknown),
});

/** A cumulative diff that was waiting; its text is in its event. */
const restoreDiff = (
  memory: Memory,
  read: ReadRecords,
  threadId: string,
  now: number,
  saved: NonNullable<SavedState["diffs"]>[number],
): void => {
  const { turnId, seq, index, events } = saved;
  const event = read(seq - 1, 1)[0]?.events[index];
  const record = { threadId, generation: memory.generation, seq };
  const text = event?.type === "turn.diff" ? event.payload.unifiedDiff : "";
  memory.diffs.set(turnId, { text, record, index, events, since: now });
};

const restorePlan = (memory: Memory, saved: NonNullable<SavedState["plans"]>[number]): Want => {
  const { planId, turnId, path: agentPath, units, events, seq, index } = saved;
  const where = { planId, turnId, agentPath };
  const plan = { ...where, pieces: [], units: 0, events, firstSeq: seq, firstIndex: index };
  const key = planKey(where);
  memory.plans.set(key, plan);
  return { key, seq, skip: 0, index, left: units, take: (text) => pushPlan(plan, text) };
};

const parse = (interpretive: string): SavedState | undefined => {
  try {
    const saved = JSON.parse(interpretive) as SavedState;
    return saved.v === stateVersion ? saved : undefined;
  } catch {
    return undefined;
  }
};

/** The books as a checkpoint has them; empty ones where it cannot be read. */
export const savedAccounts = (interpretive: string): Accounts => {
  const saved = parse(interpretive);
  return saved === undefined ? emptyAccounts() : restoreAccounts(saved.accounts);
};

/** The memory at the checkpoint. What is held ages from when its record came; the rest, and after a clock that went back, from `now`. */
export const restoreMemory = (
  threadId: string,
  checkpoint: Checkpoint,
  read: ReadRecords,
  now: number,
  ahead = 0,
): Memory => {
  const { generation, seq, interpretive } = checkpoint;
  const saved = parse(interpretive);
  const memory = emptyMemory(generation, saved === undefined ? emptyAccounts() : restoreAccounts(saved.accounts));
  memory.seq = seq;
  if (saved === undefined) return memory;
  memory.forgot = saved.forgot === true;
  memory.refusedRecords.push(...(saved.refusedRecords ?? []));
  for (const [older, olderSeq] of saved.older ?? []) memory.older.set(older, olderSeq);
  for (const [id, row] of saved.rows ?? []) memory.rows.set(id, { ...row, since: now });
  for (const [key, usage] of saved.usage ?? []) memory.usage.set(key, { ...usage, since: now });
  for (const diff of saved.diffs ?? []) restoreDiff(memory, read, threadId, now, diff);
  const wants = [
    ...(saved.items ?? []).flatMap((item) => restoreItem(memory, item, now, ahead)),
    ...(saved.outputs ?? []).flatMap((output) => restoreOutput(memory, output, now)),
    ...(saved.plans ?? []).map((plan) => restorePlan(memory, plan)),
  ];
  if (wants.length > 0) reread(wants, memory, read);
  return memory;
};

/** Up to which record of a generation nothing is needed any more: the checkpoint, or what is held from before it. */
export const neededAfter = ({ generation, seq, interpretive }: Checkpoint, asked: number): number => {
  // An older generation's records would only be refused.
  if (asked !== generation) return asked < generation ? Infinity : 0;
  const from = parse(interpretive)?.from;
  return from === undefined ? seq : Math.min(seq, from - 1);
};
