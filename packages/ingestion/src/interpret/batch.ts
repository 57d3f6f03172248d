/**
 * Runs records of a thread through interpretation: quietly where nothing enters the log, else inside one step. The
 * generation is asked first (4.3): a record of another one than the thread's current session is refused whole.
 */
import type { InternalCommand, RecordPosition, Refusal, RefusalReason } from "@tributary/contracts";
import type { Lookups, ThreadState } from "@tributary/domain";
import type { Blobs } from "./caps.ts";
import { guard } from "../guard/guard.ts";
import type { Interpretable } from "./interpret.ts";
import { interpretQuietly, interpretRecord, refuseRecord } from "./interpret.ts";
import type { Interpretation, ReasoningDetail } from "./interpretation.ts";
import type { Masker } from "../text/masking.ts";
import { nextGeneration, noteOlder } from "./memory.ts";
import type { Memory } from "./memory.ts";
import { followSettlement, isSettledElsewhere, settleEverything } from "./settlement.ts";

/** The memory of a thread's current session. Replaced by the next generation's, and after a failed step. */
export interface Holder {
  memory: Memory;
}

/** What a batch is interpreted against: the transaction, or the committed state for what stays quiet. */
export interface Surroundings {
  readonly threadId: string;
  readonly reasoning: ReasoningDetail;
  /** Milliseconds of a clock that never jumps. */
  readonly now: number;
  /** How far the clock on the wall, which records have, is ahead of `now`; nothing unless said. */
  readonly ahead?: number;
  readonly state: () => ThreadState | undefined;
  readonly look: Lookups;
  readonly blobs: Blobs;
  /** Absent: there are no secrets. */
  readonly masker?: Masker | undefined;
  readonly decide: (command: InternalCommand, record: RecordPosition) => RefusalReason | undefined;
  readonly refuse: (refusal: Refusal) => void;
}

export const interpretation = (holder: Holder, surroundings: Surroundings): Interpretation => {
  const { memory } = holder;
  const { threadId, masker } = surroundings;
  const { generation } = memory;
  memory.masker = masker;
  return {
    ...surroundings,
    memory,
    note: (seq, type, reason, events = 1) =>
      surroundings.refuse({ threadId, generation, seq, type, reason, ...(events === 1 ? {} : { events }) }),
    arrived: surroundings.now,
    seq: memory.seq,
    index: 0,
  };
};

/** Whether this record was dealt with before: after a failed step records are read again from the journal. */
const isDone = ({ memory }: Holder, record: Interpretable): boolean =>
  record.seq <= (record.generation === memory.generation ? memory.seq : (memory.older.get(record.generation) ?? 0));

const refuseForeign = (holder: Holder, around: Surroundings, record: Interpretable): void => {
  const { threadId } = around;
  const { generation, seq } = record;
  const it = interpretation(holder, around);
  const context = { generation, state: around.state(), look: around.look };
  for (const event of record.events) {
    const ruling = guard(event, context);
    const reason = ruling.verdict === "refuse" ? ruling.reason : "other_generation";
    refuseRecord(it, { ...record, events: [event] }, reason, (type) =>
      around.refuse({ threadId, generation, seq, type, reason }),
    );
  }
  noteOlder(holder.memory, generation, seq);
};

const begin = (holder: Holder, around: Surroundings, generation: number): void => {
  // What the older incarnation left: late text of its turns, where they take it.
  settleEverything(interpretation(holder, around));
  holder.memory = nextGeneration(holder.memory, generation);
};

/** Interprets one record inside a step, from event `from` on. */
const interpretOne = (holder: Holder, around: Surroundings, record: Interpretable, from: number): void => {
  if (isDone(holder, record)) return;
  const isNext = record.generation !== holder.memory.generation;
  if (isNext && around.state()?.session?.generation === record.generation) begin(holder, around, record.generation);
  if (record.generation !== holder.memory.generation) refuseForeign(holder, around, record);
  else interpretRecord(interpretation(holder, around), record, from);
};

/** Where a batch goes on: this record, from this event on. */
export interface Resume {
  readonly record: number;
  readonly event: number;
}

/** As far as nothing enters the log. Undefined: all of it. */
export const runQuietly = (
  holder: Holder,
  around: Surroundings,
  records: ReadonlyArray<Interpretable>,
): Resume | undefined => {
  const it = interpretation(holder, around);
  if (isSettledElsewhere(it)) return records.length === 0 ? undefined : { record: 0, event: 0 };
  for (const [index, record] of records.entries()) {
    if (isDone(holder, record)) continue;
    if (record.generation !== holder.memory.generation) return { record: index, event: 0 };
    const event = interpretQuietly(it, record);
    if (event < record.events.length) return { record: index, event };
  }
  return undefined;
};

/**
 * Inside a step. `poisoned` records fail whatever is done: they are refused as `invalid`, and never stop the thread
 * (I18). `at` is told the record that is being interpreted, so that a failure names it.
 */
export const runInStep = (
  holder: Holder,
  around: Surroundings,
  records: ReadonlyArray<Interpretable>,
  from: Resume,
  poisoned: (record: Interpretable) => boolean,
  at: (record: Interpretable | undefined) => void,
): void => {
  followSettlement(interpretation(holder, around));
  for (let index = from.record; index < records.length; index += 1) {
    const record = records[index];
    if (record === undefined) continue;
    at(record);
    if (poisoned(record)) refusePoisoned(holder, around, record);
    else interpretOne(holder, around, record, index === from.record ? from.event : 0);
  }
  at(undefined);
};

const refusePoisoned = (holder: Holder, around: Surroundings, record: Interpretable): void => {
  if (isDone(holder, record)) return;
  const { threadId } = around;
  const { generation, seq } = record;
  refuseRecord(interpretation(holder, around), record, "invalid", (type) =>
    around.refuse({ threadId, generation, seq, type, reason: "invalid" }),
  );
  if (generation !== holder.memory.generation) {
    noteOlder(holder.memory, generation, seq);
    return;
  }
  holder.memory.refusedRecords.push(seq);
  holder.memory.seq = seq;
};
