/** Opening a session: intent (a queued input) → attempt (opening, the marker stored) → outcome (started, or failed). */
import { OpenError } from "@tributary/contracts";
import type { Adapter, Failure, InternalCommand, OpenOptions, RuntimeSession } from "@tributary/contracts";
import { inputInLine, isLive } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { Effect, Result, Scope } from "effect";
import { attempt } from "../attempt.ts";
import type { Live } from "../live.ts";
import { nextGeneration, settingsOf } from "../plan.ts";
import { failure } from "../steps.ts";
import { steadyNow } from "../time.ts";
import type { Tools } from "../tools.ts";
import { createdAs } from "./created.ts";
import { endSession } from "./end.ts";

/** Opens the session that `live` stands for. What comes to nothing is ended by the lane, which sees it in the state. */
export const openSession = Effect.fnUntraced(function* (tools: Tools, live: Live) {
  const { threadId, generation, marker } = live;
  let resume: string | undefined;
  const isAttempted = yield* tools.step(threadId, (state) => {
    if (!isWanted(tools, state, generation)) return [];
    resume = state.nativeSessionId;
    return [{ type: "session.open", generation, marker, ...(resume === undefined ? {} : { resume }) }];
  });
  const state = tools.writer.state(threadId);
  if (!isAttempted || state === undefined) return yield* endSession(tools, live);
  // Looked at by the lane from now on: what became of the opening meanwhile counts.
  if (live.phase === "intended") live.phase = "opening";
  tools.wake(threadId);
  const deadline = tools.timings.calls.open;
  yield* attempt(tools, live, {
    call: () => attemptOpen(tools, live, state, resume),
    deadline,
    fault: (why) => openError("runtime_unavailable", "adapter_fault", why, false),
    heard: (outcome) =>
      Result.isSuccess(outcome) ? began(tools, live, outcome.success) : failed(tools, live, outcome.failure, resume),
    late: Effect.suspend(() => {
      const message = `The runtime did not open a session within ${deadline / 1_000} s: try again`;
      return failed(tools, live, openError("runtime_unavailable", "no_answer", message, true), resume);
    }),
  });
});

const began = (tools: Tools, live: Live, session: RuntimeSession): Effect.Effect<void> =>
  Effect.suspend(() => {
    live.session = session;
    if (live.phase === "opening") live.phase = "open";
    tools.wanted.delete(live.threadId);
    return Effect.asVoid(tools.step(live.threadId, () => [opened(live.generation, session)]));
  });

const failed = (
  tools: Tools,
  { threadId, generation }: Live,
  error: OpenError,
  resume: string | undefined,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    tools.wanted.delete(threadId);
    tools.fruitless.delete(threadId);
    const isLost = error.code === "session_unavailable" && resume !== undefined;
    return Effect.asVoid(
      tools.step(threadId, () => [
        { type: "session.fail", generation, error: told(error) },
        ...(isLost ? [contextLost(generation, resume, error.failure.message)] : []),
      ]),
    );
  });

/** What the agent knew can't be had back: nobody but the person decides to go on without it. */
const contextLost = (generation: number, nativeSessionId: string, why: string): InternalCommand => ({
  type: "notice.record",
  noticeId: `n:context:${generation}`,
  level: "error",
  code: "context_unavailable",
  message:
    "The agent's own memory of this thread can't be loaded. Repair what is wrong and send the input again; " +
    "or let the agent forget it, so that it begins anew here; or start a new thread",
  detail: `${nativeSessionId}: ${why}`,
});

const isWanted = (tools: Tools, state: ThreadState, generation: number): boolean =>
  !state.deleted &&
  !isLive(state) &&
  nextGeneration(state) === generation &&
  (inputInLine(state) !== undefined || tools.wanted.has(state.threadId));

const attemptOpen = Effect.fnUntraced(function* (
  tools: Tools,
  live: Live,
  state: ThreadState,
  resume: string | undefined,
): Effect.fn.Return<RuntimeSession, OpenError> {
  const { adapter, options } = yield* tools.activity.during(prepare(tools, live, state, resume));
  const session = yield* Scope.provide(adapter.open(options), live.scope);
  if (resume !== undefined && !session.resumed)
    return yield* openError(
      "session_unavailable",
      "session_unavailable",
      `The runtime began a new session instead of resuming ${resume}: choose to begin anew, or start a new thread`,
      false,
    );
  return session;
});

/** Everything that must be known, and stored, before a process may be spawned. */
const prepare = Effect.fnUntraced(function* (
  tools: Tools,
  live: Live,
  state: ThreadState,
  resume: string | undefined,
): Effect.fn.Return<{ readonly adapter: Adapter; readonly options: OpenOptions }, OpenError> {
  const { threadId, generation, marker } = live;
  const { cwd, serviceTier } = state;
  if ((yield* tools.places.realFolder(cwd)) !== cwd)
    return yield* openError(
      "runtime_unavailable",
      "cwd_missing",
      `The folder ${cwd} is not there any more: bring it back`,
      true,
    );
  const { adapter, instance } = yield* tools.runtimes.find(state.instance);
  const created = yield* createdAs(tools, threadId);
  yield* Effect.mapError(tools.processes.intend({ threadId, generation, marker }), (error) =>
    openError("runtime_unavailable", "storage", `The start of a process could not be stored: ${error.message}`, true),
  );
  live.isIntended = true;
  live.settings = settingsOf(state);
  const options: OpenOptions = {
    threadId,
    generation,
    instance,
    cwd,
    marker,
    ...live.settings,
    ...created,
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(resume === undefined ? {} : { resume: { nativeSessionId: resume } }),
    attachmentPath: tools.attachments.path,
    onSpawned: (identity) =>
      Effect.suspend(() => {
        live.process = identity;
        // If it can't be stored, the adapter's open dies with it, and the process is ended: nothing runs unknown.
        return Effect.orDie(tools.processes.spawned(marker, identity));
      }),
    emit: (record) =>
      Effect.clockWith((clock) => {
        live.heardAt = steadyNow(clock);
        live.heardAtWall = clock.currentTimeMillisUnsafe();
        // A silence that was told is over; the next one is to be told again.
        if (live.toldSilence !== undefined) {
          live.toldSilence = undefined;
          tools.wake(threadId);
        }
        return tools.sink.submit(threadId, generation, record);
      }),
  };
  return { adapter, options };
});

const opened = (generation: number, session: RuntimeSession): InternalCommand => ({
  type: "session.opened",
  generation,
  nativeSessionId: session.nativeSessionId,
  resumed: session.resumed,
  capabilities: session.capabilities,
  ...(session.cwd === undefined ? {} : { cwd: session.cwd }),
  ...(session.model === undefined ? {} : { model: session.model }),
  ...(session.effort === undefined ? {} : { effort: session.effort }),
});

const openError = (code: OpenError["code"], detail: string, message: string, retryable: boolean): OpenError =>
  new OpenError({ code, failure: failure("transport", detail, message, retryable) });

/** The failure as inputs show it; its code is the adapter's, or why the opening failed. */
const told = ({ code, failure: error }: OpenError): Failure => ({ ...error, code: error.code ?? code });
