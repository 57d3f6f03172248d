/**
 * The interpretive state (4.2): what the checkpoint keeps of the memory, as JSON. Where held text is in the journal, never
 * the text; merged fields of coalesced rows; the books. Its size follows what is open, never how much was streamed.
 */
import type { RefusalReason } from "@tributary/contracts";
import type { Accounts } from "../accounts.ts";
import type { PendingRow, PendingUsage } from "../interpret/coalesce.ts";
import type { Memory } from "../interpret/memory.ts";
import type { OutputWindow } from "../interpret/output-window.ts";
import { defined } from "../plain.ts";
import type { EndedSegment, OpenSegment, TextItem, TextKind } from "../text/segments.ts";

/** Raised when older states can no longer be read. Such a state is left out: what was held then stays in the journal only. */
export const stateVersion = 1;

export type SavedEnded = readonly [number: number, length: number, a: number, b: number, flags: number];
export const retractedFlag = 1;
export const unhashedFlag = 2;

export interface SavedOpen {
  readonly number?: number;
  readonly committed: number;
  readonly hash?: readonly [a: number, b: number];
  readonly blank?: true;
  readonly late?: true;
  readonly held: number;
  readonly events: number;
  readonly seq: number;
  readonly skip: number;
}

export interface SavedItem {
  readonly kind: TextKind;
  readonly turnId?: string;
  readonly path?: ReadonlyArray<string>;
  readonly itemId: string;
  readonly next: number;
  readonly done?: true;
  readonly ended?: ReadonlyArray<SavedEnded>;
  readonly open?: SavedOpen;
}

export interface SavedOutput {
  readonly activityId: string;
  readonly turnId?: string;
  readonly path: ReadonlyArray<string>;
  readonly itemId: string;
  readonly logged: number;
  /** Where secrets were masked: units that came of what is in the log. */
  readonly taken?: number;
  readonly pending: number;
  readonly events: number;
  readonly seq: number;
  readonly skip: number;
  readonly size: number;
  /** Where the ring begins, and how much it holds. */
  readonly tail?: readonly [seq: number, skip: number, units: number];
}

export interface SavedPlan {
  readonly planId: string;
  readonly turnId?: string;
  readonly path: ReadonlyArray<string>;
  readonly units: number;
  readonly events: number;
  readonly seq: number;
  readonly index: number;
}

export interface SavedDiff {
  readonly turnId: string;
  readonly seq: number;
  readonly index: number;
  readonly events: number;
}

export interface SavedAccounts {
  readonly applied: number;
  readonly folded: number;
  readonly held: number;
  readonly refused: { readonly [R in RefusalReason]?: number };
  readonly unknown?: ReadonlyArray<readonly [kind: string, count: number]>;
}

export interface SavedState {
  readonly v: typeof stateVersion;
  /** The first record that is still needed to read held text again: the journal keeps everything from here on. */
  readonly from?: number;
  readonly accounts: SavedAccounts;
  readonly forgot?: true;
  readonly items?: ReadonlyArray<SavedItem>;
  readonly outputs?: ReadonlyArray<SavedOutput>;
  readonly rows?: ReadonlyArray<readonly [id: string, row: PendingRow]>;
  readonly usage?: ReadonlyArray<readonly [key: string, usage: PendingUsage]>;
  readonly diffs?: ReadonlyArray<SavedDiff>;
  readonly plans?: ReadonlyArray<SavedPlan>;
  readonly older?: ReadonlyArray<readonly [generation: number, seq: number]>;
  readonly refusedRecords?: ReadonlyArray<number>;
}

const saveEnded = ({ number, length, hash, retracted }: EndedSegment): SavedEnded => [
  number ?? -1,
  length,
  hash?.a ?? 0,
  hash?.b ?? 0,
  (retracted === true ? retractedFlag : 0) + (hash === undefined ? unhashedFlag : 0),
];

const saveOpen = (segment: OpenSegment): SavedOpen => ({
  ...defined({ number: segment.number }),
  committed: segment.committed,
  ...(segment.hash === undefined ? {} : { hash: [segment.hash.a, segment.hash.b] }),
  ...(segment.blank ? { blank: true } : {}),
  ...(segment.late ? { late: true } : {}),
  held: segment.held,
  events: segment.events,
  seq: segment.firstSeq,
  skip: segment.skip,
});

const saveItem = (item: TextItem): SavedItem => ({
  kind: item.kind,
  ...defined({ turnId: item.turnId }),
  ...(item.agentPath.length === 0 ? {} : { path: item.agentPath }),
  itemId: item.itemId,
  next: item.nextNumber,
  ...(item.done ? { done: true } : {}),
  ...(item.ended.length === 0 ? {} : { ended: item.ended.map(saveEnded) }),
  ...(item.open === undefined ? {} : { open: saveOpen(item.open) }),
});

const saveOutput = (window: OutputWindow): SavedOutput => {
  const first = window.ring[0];
  return {
    activityId: window.activityId,
    ...defined({ turnId: window.turnId }),
    path: window.agentPath,
    itemId: window.itemId,
    logged: window.logged,
    ...(window.taken === window.logged ? {} : { taken: window.taken }),
    pending: window.pendingUnits,
    events: window.events,
    seq: window.pendingSeq,
    skip: window.pendingSkip,
    size: window.size,
    ...(first === undefined ? {} : { tail: [first.seq, first.skip, window.ringUnits] }),
  };
};

const saveAccounts = ({ applied, folded, held, refused, unknown }: Accounts): SavedAccounts => ({
  applied,
  folded,
  held,
  refused,
  ...(unknown.size === 0 ? {} : { unknown: [...unknown] }),
});

/** The first record with something that is held and not in the log. */
const firstNeeded = (memory: Memory): number | undefined => {
  const seqs = [
    ...[...memory.open].flatMap(({ open }) => (open === undefined || open.held === 0 ? [] : [open.firstSeq])),
    ...[...memory.outputs.values()].flatMap((window) => [
      ...(window.pendingUnits === 0 ? [] : [window.pendingSeq]),
      ...window.ring.slice(0, 1).map((block) => block.seq),
    ]),
    ...[...memory.diffs.values()].map((diff) => diff.record.seq),
    ...[...memory.plans.values()].map((plan) => plan.firstSeq),
  ];
  return seqs.length === 0 ? undefined : Math.min(...seqs);
};

const some = <A>(name: string, list: ReadonlyArray<A>): Record<string, ReadonlyArray<A>> =>
  list.length === 0 ? {} : { [name]: list };

/** The memory as it goes into the checkpoint. Records that were refused before `from` are not needed any more. */
export const saveMemory = (memory: Memory): SavedState => {
  const from = firstNeeded(memory);
  const refused = memory.refusedRecords.filter((seq) => from !== undefined && seq >= from);
  memory.refusedRecords.splice(0, memory.refusedRecords.length, ...refused);
  return {
    v: stateVersion,
    ...defined({ from }),
    accounts: saveAccounts(memory.accounts),
    ...(memory.forgot ? { forgot: true } : {}),
    ...some("items", [...memory.items.values()].map(saveItem)),
    ...some("outputs", [...memory.outputs.values()].map(saveOutput)),
    ...some("rows", [...memory.rows]),
    ...some("usage", [...memory.usage]),
    ...some(
      "diffs",
      [...memory.diffs].map(([turnId, { record, index, events }]) => ({ turnId, seq: record.seq, index, events })),
    ),
    ...some(
      "plans",
      [...memory.plans.values()].map(({ planId, turnId, agentPath, units, events, firstSeq, firstIndex }) => ({
        planId,
        ...defined({ turnId }),
        path: agentPath,
        units,
        events,
        seq: firstSeq,
        index: firstIndex,
      })),
    ),
    ...some("older", [...memory.older]),
    ...some("refusedRecords", refused),
  };
};

/** JSON text of the interpretive state. */
export const encodeMemory = (memory: Memory): string => JSON.stringify(saveMemory(memory));
