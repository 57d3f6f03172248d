/**
 * One call to a runtime, with a deadline. The deadline ends the waiting, never the call: a call that is taken back half-way
 * may undo what the runtime already began. What comes after the deadline is still heard.
 */
import { RuntimeCallError } from "@tributary/contracts";
import { Cause, Effect, type Result } from "effect";
import type { Live } from "./live.ts";
import { failure } from "./steps.ts";
import type { Tools } from "./tools.ts";

export type Outcome<A, E = RuntimeCallError> = Result.Result<A, E>;

/**
 * Runs `call` inside the session's life and `heard` with its outcome. Resolves after `heard`; or after `late`, which runs
 * when the deadline (milliseconds) passes first. When the session ends meanwhile it just resolves: settlement says what
 * became of it. `fault` makes a failure of an adapter's defect.
 */
export const attempt = <A, E>(
  { activity }: Pick<Tools, "activity">,
  live: Live,
  options: {
    readonly call: () => Effect.Effect<A, E>;
    readonly deadline: number;
    readonly fault: (why: string) => E;
    readonly heard: (outcome: Outcome<A, E>) => Effect.Effect<void>;
    readonly late: Effect.Effect<void>;
  },
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const call = Effect.catchDefect(Effect.suspend(options.call), (defect) =>
      Effect.fail(options.fault(`The adapter failed: ${Cause.pretty(Cause.die(defect))}`)),
    );
    const whole = Effect.flatMap(activity.outside(Effect.result(call)), options.heard);
    const work = yield* activity.launch(whole, Effect.forkIn(live.scope, { startImmediately: true }));
    if (!(yield* work.within(options.deadline))) yield* options.late;
  });

/** A defect in an adapter is no outcome that anybody may rely on. */
export const callFault = (why: string): RuntimeCallError =>
  new RuntimeCallError({ reason: "unconfirmed", failure: failure("unknown", "adapter_fault", why, false) });
