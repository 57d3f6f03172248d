/** Inputs that a person wants back from the runtime: intent (withdraw requested) → the call, once → withdrawn, or why not. */
import type { Failure } from "@tributary/contracts";
import { Effect, Result } from "effect";
import { attempt, callFault } from "../attempt.ts";
import type { Live } from "../live.ts";
import { failure, unsupported } from "../steps.ts";
import type { Tools } from "../tools.ts";

/** Asks the runtime for it. What it says later of the input, read or not, counts all the same. */
export const takeBack = (tools: Tools, live: Live, inputId: string): Effect.Effect<void> =>
  attempt(tools, live, {
    call: () => live.session?.withdraw?.({ inputId }) ?? Effect.fail(unsupported("give an input back")),
    // As long as a steer may take: both are one message to a runtime that is at work.
    deadline: tools.timings.calls.steer,
    fault: callFault,
    heard: (outcome) =>
      Result.isSuccess(outcome)
        ? Effect.asVoid(
            tools.step(live.threadId, (state) =>
              state.inputs.some((input) => input.inputId === inputId && input.isWithdrawing === true)
                ? [{ type: "input.evidence", inputId, state: "withdrawn" }]
                : [],
            ),
          )
        : failed(tools, live, inputId, outcome.failure.failure),
    late: failed(
      tools,
      live,
      inputId,
      failure("transport", "no_answer", "The runtime did not say whether it gives it back: it may still read it", true),
    ),
  });

const failed = (tools: Tools, live: Live, inputId: string, error: Failure): Effect.Effect<void> =>
  Effect.asVoid(tools.step(live.threadId, () => [{ type: "input.withdraw_fail", inputId, error }]));
