/** What time asks for: idle sessions, silence, expiry, and sessions that nobody holds. */
import { inputInLine } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { Effect } from "effect";
import { isIdle } from "../due.ts";
import type { DueAction, QuietPhase } from "../due.ts";
import type { Live } from "../live.ts";
import { failure } from "../steps.ts";
import type { Tools } from "../tools.ts";
import { settleExit } from "./settle.ts";

/** Lets an unused session go; the next input opens another, which resumes. */
export const releaseIdle = (tools: Tools, live: Live): Effect.Effect<void> =>
  Effect.suspend(() => {
    // Whatever comes of it, the next look at it is a whole interval away.
    live.marks = {};
    return Effect.asVoid(
      tools.step(live.threadId, (state) =>
        isIdle(state) ? [{ type: "session.idle", generation: live.generation }] : [],
      ),
    );
  });

const silences: { readonly [P in QuietPhase]: string } = {
  opening: "The runtime has not opened its session yet",
  prompt: "The runtime has not begun with the input",
  turn: "The runtime has said nothing",
};

/** Silence is unknown: not healthy, not dead. It is told once, and changes nothing. */
export const tellSilence = (
  tools: Tools,
  live: Live,
  { phase }: Extract<DueAction, { readonly type: "silent" }>,
): Effect.Effect<void> =>
  Effect.asVoid(
    tools.step(live.threadId, ({ version, turn }) => [
      {
        type: "notice.record",
        noticeId: `n:silent:${live.generation}.${version}`,
        level: "warning",
        code: "silent",
        message: `${silences[phase]} for ${tools.timings.silent[phase] / 1_000} s: wait, or stop it`,
        ...(turn === undefined ? {} : { turnId: turn.turnId }),
      },
    ]),
  );

/** Nobody answered in the time that the runtime gave. */
export const expire = (tools: Tools, { threadId }: ThreadState, requestId: string): Effect.Effect<void> =>
  Effect.asVoid(tools.step(threadId, () => [{ type: "request.expire", requestId, reason: "expired" }]));

/** The state has a session that nobody holds: it is over. */
export const settleLost = (tools: Tools, state: ThreadState): Effect.Effect<void> =>
  Effect.asVoid(
    settleExit(tools, state.threadId, ({ session }) =>
      session === undefined || tools.sessions.has(state.threadId)
        ? []
        : [
            {
              type: "session.exit",
              generation: session.generation,
              seen: "host_restart",
              kind: "crash",
              reason: "Nothing holds this session any more",
              recoverable: true,
            },
          ],
    ),
  );

/** Sessions that open and go again and again do not help the input that waits for one. */
export const failFruitless = (tools: Tools, threadId: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const count = tools.fruitless.get(threadId) ?? 0;
    tools.fruitless.delete(threadId);
    const error = failure(
      "transport",
      "runtime_exited",
      `The runtime went ${count} times before it took the input: look at its diagnostics, then send it again`,
      true,
    );
    return Effect.asVoid(
      tools.step(threadId, (state) => {
        const next = inputInLine(state);
        return next === undefined ? [] : [{ type: "input.fail", inputId: next.inputId, error }];
      }),
    );
  });
