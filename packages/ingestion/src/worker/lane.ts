/** A thread in the worker: what waits of it, what is remembered of it, who waits for it. */
import type { InterruptState } from "@tributary/domain";
import type { Accepted } from "./intake.ts";
import type { Holder } from "../interpret/batch.ts";
import { emptyMemory } from "../interpret/memory.ts";
import type { Memory } from "../interpret/memory.ts";
import type { Masker } from "../text/masking.ts";

/**
 * What is put into the log beside the records of a visit, in rising order. `due`: what is old enough. `ready`: all that
 * may enter it (a drain); buffered text stays. `open`: buffered text too, segments go on (an interrupt, a shutdown).
 * `settled`: everything, segments end (the process is gone).
 */
export type Flush = "none" | "due" | "ready" | "open" | "settled";

const ranks: ReadonlyArray<Flush> = ["none", "due", "ready", "open", "settled"];

export const strongest = (one: Flush, other: Flush): Flush =>
  ranks.indexOf(one) >= ranks.indexOf(other) ? one : other;

/** Somebody waits until the first `target` records are dealt with, and flushed so. */
export interface Waiter {
  readonly target: number;
  readonly flush: Flush;
  readonly done: () => void;
}

/** A record, or the whole thread, that could not be dealt with so far. */
export interface Stall {
  readonly generation: number;
  readonly seq: number;
  readonly reason: string;
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface Lane extends Holder {
  readonly threadId: string;
  memory: Memory;
  /** The memory is that of the checkpoint and all journalled records after it. */
  isLoaded: boolean;
  /** In the order of the wire. */
  readonly queue: Array<Accepted>;
  /** The newest number given to a record of each generation. */
  readonly numbered: Map<number, number>;
  /** The first number that was given to a record of each generation since this lane was made. */
  readonly begun: Map<number, number>;
  /** Records that were taken, and those that are dealt with. */
  accepted: number;
  done: number;
  readonly waiters: Set<Waiter>;
  /** In the ring of those with work. */
  isQueued: boolean;
  /** A visit is under way. */
  isBusy: boolean;
  /** The timer went off. */
  isDue: boolean;
  /** A commit of somebody else asks for a visit. */
  isTouched: boolean;
  /** The interrupt for which everything was flushed. */
  interrupt: InterruptState | undefined;
  /** When the timer goes off; Infinity without one. */
  timerAt: number;
  /** Counts timers: one that was replaced does nothing. */
  timer: number;
  stall: Stall | undefined;
  /** Records that failed too often, by generation and seq. */
  readonly poisoned: Set<string>;
  /** Of the secrets known at the last visit. */
  masker: Masker | undefined;
  /** Interpreted since the last checkpoint. */
  sinceCheckpoint: number;
  /** The newest event that ingestion put into this thread's log: what live text stands on. */
  after: number;
  /** Added to the revisions of rows: a rebuilt memory counts them anew. */
  revisions: number;
}

export const makeLane = (threadId: string): Lane => ({
  threadId,
  memory: emptyMemory(0),
  isLoaded: false,
  queue: [],
  numbered: new Map(),
  begun: new Map(),
  accepted: 0,
  done: 0,
  waiters: new Set(),
  isQueued: false,
  isBusy: false,
  isDue: false,
  isTouched: false,
  interrupt: undefined,
  timerAt: Infinity,
  timer: 0,
  stall: undefined,
  poisoned: new Set(),
  masker: undefined,
  sinceCheckpoint: 0,
  after: 0,
  revisions: 0,
});

export const recordKey = ({ generation, seq }: { readonly generation: number; readonly seq: number }): string =>
  `${generation}.${seq}`;

/** Whether a visit would find anything to do. */
export const hasWork = (lane: Lane): boolean =>
  lane.queue.length > 0 || lane.waiters.size > 0 || lane.isDue || lane.isTouched;
