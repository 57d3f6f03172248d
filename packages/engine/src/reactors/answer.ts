/** Answers on their way to the runtime: intent (answering) → the call, once → outcome (delivered, unknown, pending again). */
import type { Failure } from "@tributary/contracts";
import { Effect, Result } from "effect";
import { attempt, callFault } from "../attempt.ts";
import type { Outcome } from "../attempt.ts";
import type { Live } from "../live.ts";
import { isMaskedAnswer } from "../secrets.ts";
import { failure, unsupported } from "../steps.ts";
import type { Tools } from "../tools.ts";

/** Gives one answer to the runtime. `live.answered` says that it was, before this is called (I7). */
export const giveAnswer = (tools: Tools, live: Live, requestId: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { threadId, session } = live;
    const request = tools.writer.state(threadId)?.requests.find((open) => open.requestId === requestId);
    // The real values where the log has masked ones.
    const held = tools.answers.get(threadId, requestId);
    const answer = held ?? request?.answer;
    if (request?.state !== "answering" || answer === undefined)
      return Effect.sync(() => tools.answers.drop(threadId, requestId));
    if (held === undefined && isMaskedAnswer(answer))
      return again(tools, live, requestId, failure("unknown", "secret_gone", "The secret is gone: answer again", true));
    return attempt(tools, live, {
      call: () => session?.answer?.({ requestId, answer }) ?? Effect.fail(unsupported("take answers")),
      deadline: tools.timings.calls.answer,
      fault: callFault,
      heard: (outcome) => heard(tools, live, requestId, outcome),
      late: deliver(tools, live, requestId, "unconfirmed"),
    });
  });

const heard = (tools: Tools, live: Live, requestId: string, outcome: Outcome<void>): Effect.Effect<void> => {
  if (Result.isSuccess(outcome)) return deliver(tools, live, requestId, "confirmed");
  const { reason, failure: error } = outcome.failure;
  switch (reason) {
    case "refused":
    case "unsupported":
    case "not_written":
      return again(tools, live, requestId, error);
    case "unconfirmed":
    case "exited":
      return deliver(tools, live, requestId, "unconfirmed");
  }
};

/** Nothing was written: pending again, and the next answer is a new one. */
const again = (tools: Tools, live: Live, requestId: string, error: Failure): Effect.Effect<void> =>
  Effect.suspend(() => {
    tools.answers.drop(live.threadId, requestId);
    live.answered.delete(requestId);
    return Effect.asVoid(tools.step(live.threadId, () => [{ type: "request.not_delivered", requestId, error }]));
  });

const deliver = (
  tools: Tools,
  live: Live,
  requestId: string,
  outcome: "confirmed" | "unconfirmed",
): Effect.Effect<void> =>
  Effect.andThen(
    tools.step(live.threadId, () => [{ type: "request.deliver", requestId, outcome }]),
    Effect.sync(() => tools.answers.drop(live.threadId, requestId)),
  );
