/** A runtime that does what a test says, and writes down what it is asked. */
import { OpenError, RuntimeCallError } from "@tributary/contracts";
import type {
  Adapter,
  Capabilities,
  Failure,
  OpenOptions,
  RuntimeEvent,
  RuntimeRecord,
  RuntimeSession,
} from "@tributary/contracts";
import { Deferred, Effect } from "effect";

export const capabilities: Capabilities = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: false },
  refusedOptions: {},
};

/** `accept`, `hang`, `die` (a defect), or a reason or code to fail with. */
export type Behaviour = string;
type Method =
  | "open"
  | "prompt"
  | "steer"
  | "answer"
  | "withdraw"
  | "configure"
  | "interrupt"
  | "close"
  | "terminate"
  | "kill";

export interface Call {
  readonly method: Method;
  readonly threadId: string;
  readonly [argument: string]: unknown;
}

const failure = (code: string): Failure => ({ class: "unknown", code, message: `stub: ${code}`, retryable: false });

const record = (event: RuntimeEvent): RuntimeRecord => ({
  kind: "frame",
  native: { kind: event.type, frame: {} },
  events: [event],
});

const gone: RuntimeEvent = { type: "session.exited", payload: { kind: "crash", recoverable: true } };

const reasons = ["refused", "not_written", "unconfirmed", "unsupported", "exited"] as const;
const codes = [
  "runtime_unavailable",
  "runtime_refused",
  "runtime_exited",
  "session_unavailable",
  "unsupported_option",
] as const;

export class Stub {
  readonly calls: Array<Call> = [];
  readonly behaviours: { [M in Method]?: Behaviour } = {};
  /** What the next session can do. */
  can: Capabilities = capabilities;
  /** Whether the next session has these controls. */
  has = { steer: true, answer: true, configure: true, withdraw: true };
  /** What the next session says of resuming; undefined: whatever was asked. */
  resumed: boolean | undefined;
  /** Its process goes in the moment in which its session is open. */
  exitsAtOnce = false;
  readonly #options = new Map<string, OpenOptions>();
  readonly #dead = new Set<string>();
  readonly #released = new Map<Method, Deferred.Deferred<void>>();

  readonly adapter: Adapter = {
    runtime: "stub",
    installation: () => Effect.succeed({ available: true, capabilities: this.can }),
    open: (options) =>
      Effect.gen({ self: this }, function* () {
        const { threadId, generation, resume } = options;
        this.#log("open", threadId, {
          generation,
          ...(resume === undefined ? {} : { resume: resume.nativeSessionId }),
        });
        this.#options.set(threadId, options);
        yield* Effect.addFinalizer(() => Effect.sync(() => this.#log("close", threadId, { scope: true })));
        yield* Effect.mapError(
          this.#act("open"),
          (code) =>
            new OpenError({ code: codes.find((known) => known === code) ?? "runtime_refused", failure: failure(code) }),
        );
        if (this.exitsAtOnce) yield* Effect.forkDetach(options.emit(record(gone)));
        return this.#session(options);
      }),
  };

  /** Calls of some methods, shortly. */
  called(...methods: ReadonlyArray<Method>): ReadonlyArray<string> {
    return this.calls
      .filter((call) => methods.length === 0 || methods.includes(call.method))
      .filter((call) => call["scope"] !== true)
      .map(({ method, threadId, ...rest }) =>
        `${threadId} ${method} ${Object.values(rest).map(short).join(" ")}`.trim(),
      );
  }

  count(method: Method): number {
    return this.called(method).length;
  }

  /** Lets calls that hang go on, as accepted. */
  release(method: Method): void {
    const waiting = this.#released.get(method);
    this.#released.delete(method);
    this.behaviours[method] = "accept";
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.void);
  }

  options(threadId: string): OpenOptions {
    const options = this.#options.get(threadId);
    if (options === undefined) throw new Error(`no session of ${threadId} was opened`);
    return options;
  }

  /** The runtime says something in a thread's newest session. */
  say(threadId: string, ...events: ReadonlyArray<RuntimeEvent>): Effect.Effect<void> {
    const { emit } = this.options(threadId);
    return Effect.forEach(events, (event) => emit(record(event)), { discard: true });
  }

  #log(method: Method, threadId: string, rest: Record<string, unknown> = {}): void {
    this.calls.push({ method, threadId, ...rest });
  }

  #act(method: Method): Effect.Effect<void, string> {
    return Effect.suspend(() => {
      const behaviour = this.behaviours[method] ?? "accept";
      if (behaviour === "accept") return Effect.void;
      if (behaviour === "die") return Effect.die(new Error(`the stub dies in ${method}`));
      if (behaviour !== "hang") return Effect.fail(behaviour);
      const waiting = this.#released.get(method) ?? Deferred.makeUnsafe<void>();
      this.#released.set(method, waiting);
      return Deferred.await(waiting);
    });
  }

  #call(method: Method): Effect.Effect<void, RuntimeCallError> {
    return Effect.mapError(
      this.#act(method),
      (code) =>
        new RuntimeCallError({
          reason: reasons.find((reason) => reason === code) ?? "refused",
          failure: failure(code),
        }),
    );
  }

  #session(options: OpenOptions): RuntimeSession {
    const { threadId, generation } = options;
    const key = `${threadId} ${generation}`;
    const log = (method: Method, rest?: Record<string, unknown>) =>
      Effect.sync(() => this.#log(method, threadId, rest));
    const exit = (kind: "graceful" | "killed") =>
      Effect.suspend(() => {
        if (this.#dead.has(key)) return Effect.void;
        this.#dead.add(key);
        return options.emit(record({ type: "session.exited", payload: { kind, recoverable: true } }));
      });
    const { steer, answer, configure, withdraw } = this.has;
    const ending = (method: "close" | "terminate" | "kill", kind: "graceful" | "killed") =>
      log(method).pipe(Effect.andThen(Effect.ignore(this.#act(method))), Effect.andThen(exit(kind)));
    return {
      nativeSessionId: options.resume?.nativeSessionId ?? `native-${threadId}`,
      resumed: this.resumed ?? options.resume !== undefined,
      cwd: options.cwd,
      capabilities: this.can,
      prompt: (input) => Effect.andThen(log("prompt", { ...input }), this.#call("prompt")),
      interrupt: ({ turnId }) => Effect.andThen(log("interrupt", { turnId }), this.#call("interrupt")),
      close: ending("close", "graceful"),
      signal: (signal) => ending(signal, "killed"),
      ...(steer ? { steer: (input) => Effect.andThen(log("steer", { ...input }), this.#call("steer")) } : {}),
      ...(answer ? { answer: (request) => Effect.andThen(log("answer", { ...request }), this.#call("answer")) } : {}),
      ...(withdraw
        ? { withdraw: (input) => Effect.andThen(log("withdraw", { ...input }), this.#call("withdraw")) }
        : {}),
      ...(configure
        ? {
            configure: (change) =>
              Effect.andThen(log("configure", { change }), Effect.as(this.#call("configure"), change)),
          }
        : {}),
    };
  }
}

const short = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
