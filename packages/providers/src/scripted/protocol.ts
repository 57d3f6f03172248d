/**
 * What crosses the boundary to the scripted runtime, in process and as NDJSON over a child's pipes. Its events are
 * canonical already, so that a script can say anything that an adapter could.
 */
import { RuntimeCallError } from "@tributary/contracts";
import type { Answer, ConfigureOptions, Failure, PromptInput, RuntimeEvent } from "@tributary/contracts";
import { Schema } from "effect";
import type { Script } from "./script.ts";

/** The arguments of each call, by method. */
export interface CallArguments {
  readonly open: OpenArguments;
  readonly prompt: PromptInput;
  readonly steer: PromptInput & { readonly turnId: string };
  readonly answer: { readonly requestId: string; readonly answer: Answer };
  readonly configure: ConfigureOptions;
  readonly interrupt: { readonly turnId?: string };
}
export type Method = keyof CallArguments;

export interface OpenArguments {
  readonly script: Script;
  readonly threadId: string;
  readonly generation: number;
  readonly cwd: string;
  /** How many of the script's ordered turns an earlier incarnation used up. */
  readonly turnsUsed: number;
  readonly model?: string;
}

/** A call of ours. `close` and the signals are no calls: they have no answer. */
export type Call = {
  readonly [M in Method]: { readonly id: number; readonly method: M; readonly params: CallArguments[M] };
}[Method];

export type ToRuntime = Call | { readonly method: "close" };

export interface ReplyError {
  /** A reason of `RuntimeCallError`; for `open` a code of `OpenError`. */
  readonly reason: string;
  readonly failure: Failure;
}

/** What the runtime says. `event` may fail its schema in a child's frames: it is checked where it is read. */
export type FromRuntime =
  | { readonly event: RuntimeEvent }
  | { readonly reply: number; readonly result?: unknown; readonly error?: ReplyError }
  | { readonly noise: string };

/** How the runtime went; both absent for a plain end. */
export interface RuntimeExit {
  readonly code?: number;
  readonly signal?: string;
  readonly stderr?: string;
}

const AnyCall = Schema.Struct({
  id: Schema.Int,
  method: Schema.Literals(["open", "prompt", "steer", "answer", "configure", "interrupt"]),
  params: Schema.Unknown,
});
const Close = Schema.Struct({ method: Schema.Literal("close") });
const decodeToRuntime = Schema.decodeUnknownSync(Schema.Union([AnyCall, Close]));

/** Reads a line of the child's stdin. Throws on anything else: only the adapter of this folder writes there. */
export const parseToRuntime = (line: string): ToRuntime =>
  // The arguments are what this folder's adapter just wrote; only the envelope is checked.
  decodeToRuntime(JSON.parse(line)) as ToRuntime;

const Reply = Schema.Struct({
  reply: Schema.Int,
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ reason: Schema.String, failure: RuntimeCallError.fields.failure })),
});
const isReply = Schema.is(Reply);
const Event = Schema.Struct({ event: Schema.Record(Schema.String, Schema.Unknown) });
const isEvent = Schema.is(Event);

/** A frame that was read from a child, its event not yet checked; or a line that is none. */
export type ReadFrame =
  | { readonly event: unknown }
  | Extract<FromRuntime, { readonly reply: number }>
  | { readonly noise: string };

/** Reads a line of the child's stdout. Never throws. */
export const parseFromRuntime = (line: string): ReadFrame => {
  try {
    const value: unknown = JSON.parse(line);
    if (isReply(value)) return value;
    if (isEvent(value)) return { event: value.event };
  } catch {
    // Not JSON: noise, as below.
  }
  return { noise: line };
};
