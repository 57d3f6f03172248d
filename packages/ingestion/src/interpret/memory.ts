/**
 * What interpreting remembers of one session: what is open, nothing else (I11). It is disposable: after a failed step or
 * a crash the checkpoint and the journal bring it back (4.2).
 */
import { emptyAccounts } from "../accounts.ts";
import type { Accounts } from "../accounts.ts";
import type { PendingDiff, PendingRow, PendingUsage } from "./coalesce.ts";
import type { OutputWindow } from "./output-window.ts";
import type { PlanBuffer } from "./plan-buffer.ts";
import type { Masker } from "../text/masking.ts";
import type { TextItem } from "../text/segments.ts";

export interface Memory {
  readonly generation: number;
  /** Everything up to this record is interpreted. */
  seq: number;
  /** Items with text, open ones and those remembered for the comparison with a whole text. By key. */
  readonly items: Map<string, TextItem>;
  /** Those with an open segment, in the order of opening. */
  readonly open: Set<TextItem>;
  /** The item of the newest delta: the next one is mostly of the same. */
  last: TextItem | undefined;
  /** An item of the running turn was forgotten: numbers of its messages must be looked up. */
  forgot: boolean;
  /** Output of open commands, by activity id. */
  readonly outputs: Map<string, OutputWindow>;
  /** Updates on their way into the log, by activity id or task id. */
  readonly rows: Map<string, PendingRow>;
  readonly usage: Map<string, PendingUsage>;
  /** By turn. */
  readonly diffs: Map<string, PendingDiff>;
  /** Plans that are being written, by `planKey`. */
  readonly plans: Map<string, PlanBuffer>;
  /** Of the thread: they go on over generations. */
  readonly accounts: Accounts;
  /** Earlier generations whose records may still come, only to be refused: the newest one of each that was. */
  readonly older: Map<number, number>;
  /** Masks secrets in what is handed out; of the thread as it is now, and in no checkpoint. */
  masker: Masker | undefined;
  /** Records that were refused whole, as far back as text is held: they must not come back when it is read again. */
  readonly refusedRecords: Array<number>;
}

export const emptyMemory = (generation: number, accounts: Accounts = emptyAccounts()): Memory => ({
  generation,
  seq: 0,
  items: new Map(),
  open: new Set(),
  last: undefined,
  forgot: false,
  outputs: new Map(),
  rows: new Map(),
  usage: new Map(),
  diffs: new Map(),
  plans: new Map(),
  accounts,
  older: new Map(),
  masker: undefined,
  refusedRecords: [],
});

/** Earlier generations that are remembered. */
const rememberedGenerations = 8;

/** Notes how far a generation that is not the current one has been dealt with. */
export const noteOlder = (memory: Memory, generation: number, seq: number): void => {
  memory.older.delete(generation);
  memory.older.set(generation, seq);
  const oldest = memory.older.keys().next();
  if (memory.older.size > rememberedGenerations && oldest.done !== true) memory.older.delete(oldest.value);
};

/** The memory of the next generation: the books go on, nothing else does. */
export const nextGeneration = (memory: Memory, generation: number): Memory => {
  const next = emptyMemory(generation, memory.accounts);
  for (const [older, seq] of memory.older) if (older !== generation) next.older.set(older, seq);
  if (memory.generation > 0) noteOlder(next, memory.generation, memory.seq);
  next.seq = memory.older.get(generation) ?? 0;
  return next;
};
