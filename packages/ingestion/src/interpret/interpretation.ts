/** What a handler works with: the memory of its session, the thread as it is now, and the way into the log. */
import type {
  InternalCommand,
  RecordPosition,
  RefusalReason,
  RuntimeEventOf,
  RuntimeEventType,
} from "@tributary/contracts";
import type { Lookups, ThreadState } from "@tributary/domain";
import type { Blobs } from "./caps.ts";
import type { Memory } from "./memory.ts";

/** How much of reasoning enters the log: everything, summaries only, or nothing. The journal has it all. */
export type ReasoningDetail = "full" | "summary" | "off";

export interface Interpretation {
  readonly threadId: string;
  readonly memory: Memory;
  readonly reasoning: ReasoningDetail;
  /** Milliseconds of a clock that never jumps. */
  readonly now: number;
  /** How far the clock on the wall, which records have, is ahead of `now`; nothing unless said. */
  readonly ahead?: number;
  /** With what this step did before. */
  readonly state: () => ThreadState | undefined;
  readonly look: Lookups;
  readonly blobs: Blobs;
  /** Decides at once. Returns why it was refused. Handlers use `enter`. */
  readonly decide: (command: InternalCommand, record: RecordPosition) => RefusalReason | undefined;
  /**
   * Records a refusal (4.3) of something that came with record `seq` of the current generation. `events`: how many were
   * refused together, one unless said. Each is in the books once, and in one recorded refusal (I5).
   */
  readonly note: (seq: number, type: string, reason: RefusalReason, events?: number) => void;
  /** When the record came, as the journal has it: what is held ages from then, also after a crash. Milliseconds. */
  arrived: number;
  /** The record and the event in it that is being interpreted. */
  seq: number;
  index: number;
}

/** What became of an event. `held`: it is in a buffer, whose flush settles it. */
export type Outcome =
  | { readonly outcome: "applied" }
  | { readonly outcome: "held" }
  | { readonly outcome: "folded" }
  | { readonly outcome: "refused"; readonly reason: RefusalReason };

export const applied: Outcome = { outcome: "applied" };
export const held: Outcome = { outcome: "held" };
export const folded: Outcome = { outcome: "folded" };
export const refused = (reason: RefusalReason): Outcome => ({ outcome: "refused", reason });

/** Applied, unless the decider said no. */
export const unless = (refusal: RefusalReason | undefined): Outcome =>
  refusal === undefined ? applied : refused(refusal);

export interface Handler<T extends RuntimeEventType> {
  /**
   * Whether nothing of this event enters the log now, as far as can be told without trying: such events need no
   * transaction. Only asked when the guard says `apply`. Absent: never.
   */
  readonly quiet?: (it: Interpretation, event: RuntimeEventOf<T>) => boolean;
  readonly apply: (it: Interpretation, event: RuntimeEventOf<T>) => Outcome;
  /** For events of an ended turn, where the guard's table says `late`. */
  readonly late?: (it: Interpretation, event: RuntimeEventOf<T>) => Outcome;
  /** What is finalised although the event is refused. */
  readonly leftovers?: (it: Interpretation, event: RuntimeEventOf<T>) => void;
}

/** Where the event that is being interpreted came from. */
export const position = (it: Interpretation): RecordPosition => ({
  threadId: it.threadId,
  generation: it.memory.generation,
  seq: it.seq,
});
