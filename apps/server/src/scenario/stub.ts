import { FailureClass, OpenError, RuntimeCallError } from "@tributary/contracts";
import type { Adapter, Capabilities, Failure, OpenOptions, RuntimeRecord, RuntimeSession } from "@tributary/contracts";
import { Effect, Schema } from "effect";
import type { StubBehaviours } from "./script.ts";

/** One call that reached the stub, with its arguments. */
export interface StubCall {
  readonly method: string;
  readonly threadId: string;
  readonly [argument: string]: unknown;
}

/** A runtime that does what the script said last, and emits nothing by itself except its own end. */
export interface Stub {
  readonly adapter: Adapter;
  readonly calls: ReadonlyArray<StubCall>;
  readonly behave: (change: StubBehaviours) => void;
  /** What the next session that opens declares, over `defaultCapabilities`. */
  readonly declare: (capabilities: Capabilities) => void;
  readonly declared: () => Capabilities;
  /** The script said that this process is gone: it says and does no more. */
  readonly gone: (threadId: string, generation: number) => void;
  /** A host's death takes its processes with it. */
  readonly killAll: () => void;
}

export const defaultCapabilities: Capabilities = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: true,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: false },
  refusedOptions: {},
};

const isFailureClass = Schema.is(FailureClass);
const failure = (code: string, method: string): Failure => ({
  class: isFailureClass(code) ? code : "unknown",
  code,
  message: `the stub fails ${method} with ${code}`,
  retryable: false,
});

const callReasons = ["refused", "not_written", "unconfirmed", "unsupported", "exited"] as const;
const openCodes = [
  "runtime_unavailable",
  "runtime_refused",
  "runtime_exited",
  "session_unavailable",
  "unsupported_option",
] as const;

const killedBy = (signal: string): RuntimeRecord => ({
  kind: "frame",
  native: { kind: "exit", frame: { signal } },
  events: [{ type: "session.exited", payload: { kind: "killed", signal, recoverable: true } }],
});

const keyOf = (threadId: string, generation: number): string => `${generation}/${threadId}`;

export const makeStub = (): Stub => {
  const calls: Array<StubCall> = [];
  const behaviours: { [K in keyof StubBehaviours]-?: string } = {
    open: "accept",
    prompt: "accept",
    steer: "accept",
    answer: "accept",
    interrupt: "accept",
    configure: "accept",
    close: "accept",
  };
  let capabilities = defaultCapabilities;
  const alive = new Map<string, { dead: boolean }>();

  const behave = (method: keyof StubBehaviours): Effect.Effect<void, string> =>
    Effect.suspend(() => {
      const behaviour = behaviours[method];
      if (behaviour === "hang") return Effect.never;
      return behaviour === "accept" ? Effect.void : Effect.fail(behaviour.slice("fail:".length));
    });

  const call = (method: Exclude<keyof StubBehaviours, "open" | "close">) =>
    behave(method).pipe(
      Effect.mapError(
        (code) =>
          new RuntimeCallError({
            reason: callReasons.find((reason) => reason === code) ?? "refused",
            failure: failure(code, method),
          }),
      ),
    );

  const session = (options: OpenOptions): RuntimeSession => {
    const { threadId } = options;
    const process = { dead: false };
    alive.set(keyOf(threadId, options.generation), process);
    const log = (method: string, rest: Record<string, unknown> = {}) =>
      Effect.sync(() => void calls.push({ method, threadId, ...rest }));
    const end = (method: string, lastWord: Effect.Effect<void>) =>
      Effect.suspend(() => {
        if (process.dead) return Effect.void;
        process.dead = true;
        calls.push({ method, threadId });
        return lastWord;
      });
    return {
      nativeSessionId: options.resume?.nativeSessionId ?? `native-${threadId}`,
      resumed: options.resume !== undefined,
      cwd: options.cwd,
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.effort === undefined ? {} : { effort: options.effort }),
      capabilities,
      prompt: (input) => Effect.andThen(log("prompt", { ...input }), call("prompt")),
      steer: (input) => Effect.andThen(log("steer", { ...input }), call("steer")),
      answer: (request) => Effect.andThen(log("answer", { ...request }), call("answer")),
      withdraw: (input) => log("withdraw", { ...input }),
      configure: (change) => Effect.andThen(log("configure", { ...change }), Effect.as(call("configure"), change)),
      interrupt: (target) => Effect.andThen(log("interrupt", { ...target }), call("interrupt")),
      // A host that closes has settled what there was: the stub goes without a word.
      close: end("close", Effect.ignore(behave("close"))),
      signal: (signal) => end(signal, options.emit(killedBy(signal === "kill" ? "SIGKILL" : "SIGTERM"))),
    };
  };

  const adapter: Adapter = {
    runtime: "stub",
    installation: () => Effect.succeed({ available: true, version: "stub", capabilities }),
    open: (options) =>
      Effect.suspend(() => {
        calls.push({
          method: "open",
          threadId: options.threadId,
          generation: options.generation,
          cwd: options.cwd,
          ...(options.resume === undefined ? {} : { resume: options.resume.nativeSessionId }),
        });
        return behave("open");
      }).pipe(
        Effect.mapError(
          (code) =>
            new OpenError({
              code: openCodes.find((known) => known === code) ?? "runtime_refused",
              failure: failure(code, "open"),
            }),
        ),
        Effect.map(() => session(options)),
      ),
  };

  return {
    adapter,
    calls,
    behave: (change) => Object.assign(behaviours, change),
    declared: () => capabilities,
    declare: (next) => {
      capabilities = next;
    },
    gone: (threadId, generation) => {
      const process = alive.get(keyOf(threadId, generation));
      if (process !== undefined) process.dead = true;
    },
    killAll: () => {
      for (const process of alive.values()) process.dead = true;
      alive.clear();
    },
  };
};
