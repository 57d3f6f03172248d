/** Changed settings on their way to the runtime, before the next prompt. */
import type { ConfigureOptions, Failure, InternalCommand } from "@tributary/contracts";
import { Effect, Result } from "effect";
import { attempt, callFault } from "../attempt.ts";
import type { Live } from "../live.ts";
import type { Action } from "../plan.ts";
import { failure, unsupported } from "../steps.ts";
import type { Tools } from "../tools.ts";

type Configure = Extract<Action, { readonly type: "configure" }>;

/** Tells the runtime once; a change that it does not take is told in the thread, and the next prompt goes on without it. */
export const configure = (tools: Tools, live: Live, { change, settings }: Configure): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { session, generation } = live;
    const isTold = (): void => {
      live.settings = settings;
    };
    return attempt(tools, live, {
      call: () => session?.configure?.(change) ?? Effect.fail(unsupported("change settings")),
      deadline: tools.timings.calls.configure,
      fault: callFault,
      heard: (outcome) =>
        Effect.suspend(() => {
          isTold();
          if (Result.isFailure(outcome)) return notice(tools, live, change, outcome.failure.failure);
          const { model, effort, serviceTier } = outcome.success;
          const read: InternalCommand = {
            type: "session.configure",
            generation,
            ...(model === undefined ? {} : { model }),
            ...(effort === undefined ? {} : { effort }),
            ...(serviceTier === undefined ? {} : { serviceTier }),
          };
          return Effect.asVoid(tools.step(live.threadId, () => [read]));
        }),
      late: Effect.suspend(() => {
        isTold();
        return notice(tools, live, change, failure("transport", "no_answer", "The runtime did not answer", true));
      }),
    });
  });

const notice = (tools: Tools, live: Live, change: ConfigureOptions, error: Failure): Effect.Effect<void> =>
  Effect.asVoid(
    tools.step(live.threadId, ({ version }) => [
      {
        type: "notice.record",
        noticeId: `n:configure:${live.generation}.${version}`,
        level: "warning",
        code: "configure_failed",
        message: `The runtime did not take over ${Object.keys(change).join(", ")}: it goes on as before`,
        detail: error.message,
      },
    ]),
  );
