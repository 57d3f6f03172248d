/** One lane's records against the store: quietly over the committed state, or inside a step of the writer. Synchronous. */
import type { Actor, RefusalReason } from "@tributary/contracts";
import type { StepTx, Writer } from "@tributary/store";
import { interpretation, runInStep, runQuietly } from "../interpret/batch.ts";
import type { Resume, Surroundings } from "../interpret/batch.ts";
import { noBlobs } from "../interpret/caps.ts";
import type { Blobs } from "../interpret/caps.ts";
import { flushDue } from "../interpret/deadlines.ts";
import { flushPending } from "../interpret/enter.ts";
import type { Interpretable } from "../interpret/interpret.ts";
import { encodeMemory } from "../checkpoint/interpretive-state.ts";
import type { ReasoningDetail } from "../interpret/interpretation.ts";
import { recordKey } from "./lane.ts";
import type { Flush, Lane } from "./lane.ts";
import { flushEverything, settleEverything } from "../interpret/settlement.ts";

/** What both ways of interpreting need. */
export interface Reading {
  readonly reasoning: ReasoningDetail;
  /** Milliseconds of a clock that never jumps. */
  readonly now: number;
  /** How far the clock on the wall, which records have, is ahead of `now`; nothing unless said. */
  readonly ahead?: number;
}

const impossible = (): never => {
  throw new Error("an event that was said to be quiet wanted to enter the log");
};

/** Interprets as far as nothing enters the log. Returns where a step must go on; undefined when all is done. */
export const runLaneQuietly = (
  lane: Lane,
  records: ReadonlyArray<Interpretable>,
  writer: Writer["Service"],
  { reasoning, now, ahead = 0 }: Reading,
): Resume | undefined => {
  const { threadId } = lane;
  const state = writer.state(threadId);
  const around: Surroundings = {
    threadId,
    reasoning,
    now,
    ahead,
    state: () => state,
    look: writer.look(threadId),
    blobs: noBlobs,
    masker: lane.masker,
    decide: impossible,
    refuse: impossible,
  };
  return runQuietly(lane, around, records);
};

const isStreaming = (tx: StepTx): boolean => tx.state()?.textDelivery !== "buffered";

const flushLane = (lane: Lane, around: Surroundings, flush: Flush, streaming: boolean): void => {
  const it = interpretation(lane, around);
  switch (flush) {
    case "none":
      return;
    case "due":
      return flushDue(it, streaming);
    case "ready":
      flushPending(it);
      return streaming ? flushEverything(it) : flushDue(it, false);
    case "open":
      flushPending(it);
      return flushEverything(it);
    case "settled":
      return settleEverything(it);
  }
};

export interface StepWork extends Reading {
  readonly records: ReadonlyArray<Interpretable>;
  readonly from: Resume;
  readonly flush: Flush;
  readonly blobs: Blobs;
  /** Told which record is being interpreted, so that a failure names it. */
  readonly at: (record: Interpretable | undefined) => void;
}

/** Interprets inside a step and sets the checkpoint with what came of it. */
export const runLaneInStep = (lane: Lane, tx: StepTx, work: StepWork): void => {
  const { threadId } = lane;
  const actor: Actor = { kind: "runtime", id: tx.state()?.instance ?? "unknown" };
  const decide: Surroundings["decide"] = (command, record): RefusalReason | undefined => {
    const decision = tx.decide(command, { actor, record });
    if (!decision.ok) return decision.reason;
    // Set while the transaction is open: nobody reads it before the commit, which follows at once.
    if (decision.events.length > 0) lane.after = tx.head();
    return undefined;
  };
  const { reasoning, now, ahead = 0, blobs } = work;
  const around: Surroundings = {
    threadId,
    reasoning,
    now,
    ahead,
    state: tx.state,
    look: tx.look,
    blobs,
    masker: lane.masker,
    decide,
    refuse: tx.refuse,
  };
  runInStep(lane, around, work.records, work.from, (record) => lane.poisoned.has(recordKey(record)), work.at);
  flushLane(lane, around, work.flush, isStreaming(tx));
  const { memory } = lane;
  tx.checkpoint(memory.generation, memory.seq, encodeMemory(memory));
};
