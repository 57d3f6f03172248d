/** A host in a test: a real store, the engine over it, a stub runtime, and ingestion at its plainest. */
import type { Actor, ClientCommand, InternalCommand, Receipt, RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import { subjectHash } from "@tributary/domain";
import type { InputContent, ThreadState } from "@tributary/domain";
import { EventLog, Processes, Projection, Signals, Store, Writer } from "@tributary/store";
import type { LogEvent, SpawnedProcess, StoreServices } from "@tributary/store";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
import {
  defaultTimings,
  Engine,
  EngineSettings,
  Facts,
  Ingested,
  Places,
  RecordSink,
  Runtimes,
  Sessions,
  Survivors,
} from "../../src/index.ts";
import type { Timings } from "../../src/index.ts";
import { Stub } from "./stub.ts";

const me: Actor = { kind: "client", id: "phone" };

/** Events of a runtime as internal commands, without the guard, segments and coalescing of the real ingestion. */
const interpret = (event: RuntimeEvent, generation: number): ReadonlyArray<InternalCommand> => {
  const { turnId, requestId = "", agentPath = [] } = event;
  switch (event.type) {
    case "turn.started":
      return [{ type: "turn.start", turnId: turnId ?? "", generation, ...event.payload }];
    case "turn.completed":
      return [{ type: "turn.end", generation, ...(turnId === undefined ? {} : { turnId }), ...event.payload }];
    case "session.exited":
      return [{ type: "session.exit", seen: "runtime", generation, ...event.payload }];
    case "input.state":
      return [{ type: "input.evidence", ...event.payload, ...(turnId === undefined ? {} : { turnId }) }];
    case "request.opened":
      return [
        {
          type: "request.open",
          requestId,
          agentPath,
          generation,
          subjectHash: subjectHash(event.payload),
          ...(turnId === undefined ? {} : { turnId }),
          ...event.payload,
        },
      ];
    case "request.resolved":
      return [{ type: "request.resolve", requestId, ...event.payload }];
    case "task.started":
      return [{ type: "task.start", generation, agentPath, ...event.payload }];
    default:
      return [];
  }
};

export interface WorldOptions {
  readonly timings?: Partial<Timings>;
  readonly marker?: (threadId: string, generation: number) => string;
}

/** One engine's life over the world's store. */
export interface Host {
  readonly engine: Engine["Service"];
  /** Its memory is gone, and so are its fibers; sessions as well unless they survive. */
  readonly crash: (options?: { readonly sessionsSurvive?: boolean }) => Effect.Effect<void>;
}

export class World {
  readonly stub = new Stub();
  readonly store: Context.Context<StoreServices>;
  readonly options: WorldOptions;
  /** What ended processes, and whether it could. */
  readonly ended: Array<SpawnedProcess> = [];
  canEnd = true;
  /** Records that a host that died had not interpreted. */
  readonly journal: Array<{ readonly threadId: string; readonly generation: number; readonly event: RuntimeEvent }> =
    [];
  /** What was flushed or replayed, in order. */
  readonly ingestion: Array<string> = [];
  flush: Effect.Effect<void> = Effect.void;
  roots: ReadonlyArray<{ readonly projectId: string; readonly root: string }> = [{ projectId: "P", root: "/p" }];
  refusedOptions: Readonly<Record<string, string>> = {};
  missingFolder: string | undefined;
  /** Between the attempt's commit and the call. */
  beforeSending: Effect.Effect<void> = Effect.void;
  /** How many threads each project has. */
  threads = 0;
  #commands = 0;
  #ingesting = 0;
  #sessions: Context.Context<Sessions> | undefined;

  constructor(store: Context.Context<StoreServices>, options: WorldOptions) {
    this.store = store;
    this.options = options;
  }

  get writer(): Writer["Service"] {
    return Context.get(this.store, Writer);
  }

  get processes(): Processes["Service"] {
    return Context.get(this.store, Processes);
  }

  /** Starts an engine. Commands go to the newest one. */
  get boot(): Effect.Effect<Host> {
    return this.#boot();
  }

  /** The handle is gone, and nobody has noticed. */
  loseHandle(threadId: string): void {
    if (this.#sessions !== undefined) Context.get(this.#sessions, Sessions).byThread.delete(threadId);
  }

  #boot(): Effect.Effect<Host> {
    return Effect.gen({ self: this }, function* () {
      const scope = yield* Scope.make();
      const sessionScope = yield* Scope.make();
      this.#sessions ??= yield* Layer.buildWithScope(Layer.fresh(Sessions.layer), sessionScope);
      const context = Context.merge(this.store, this.#sessions);
      const layer = Engine.layer.pipe(
        Layer.provide(this.#ports()),
        Layer.provide(Layer.succeedContext(context)),
        Layer.provide(
          Layer.succeed(EngineSettings, {
            timings: { ...defaultTimings, ...this.options.timings },
            marker: (threadId, generation) =>
              Effect.sync(() => this.options.marker?.(threadId, generation) ?? `${threadId}.${generation}`),
          }),
        ),
      );
      const engine = Context.get(yield* Layer.buildWithScope(Layer.fresh(layer), scope), Engine);
      yield* Effect.orDie(engine.start);
      const host: Host = {
        engine,
        crash: (options) =>
          Effect.suspend(() => {
            if (options?.sessionsSurvive === true) return Scope.close(scope, Exit.void);
            // A dead host's runtimes say nothing to the next one.
            this.#sessions = undefined;
            return Scope.close(scope, Exit.void);
          }),
      };
      this.host = host;
      return host;
    });
  }

  host: Host | undefined;

  get engine(): Engine["Service"] {
    if (this.host === undefined) throw new Error("no engine was started");
    return this.host.engine;
  }

  /** Sends a command as a client. */
  send(command: DistributiveOmit<ClientCommand, "commandId"> & { readonly commandId?: string }) {
    this.#commands += 1;
    const full = { commandId: `c${this.#commands}`, ...command } as ClientCommand;
    return Effect.orDie(this.engine.dispatch(full, me));
  }

  /** Sends one that must be accepted, and lets everything that follows from it happen. */
  readonly does = (command: Parameters<World["send"]>[0]): Effect.Effect<Receipt> =>
    Effect.tap(this.send(command), (receipt) => {
      if (receipt.status === "rejected") throw new Error(`${command.type}: ${JSON.stringify(receipt.rejection)}`);
      return this.settled;
    });

  create(threadId = "T", more: Record<string, unknown> = {}) {
    return this.does({ type: "thread.create", threadId, cwd: "/p/a", instance: "stub", ...more });
  }

  submit(inputId: string, more: Record<string, unknown> = {}) {
    return this.does({ type: "input.submit", threadId: "T", inputId, text: `text of ${inputId}`, ...more });
  }

  state(threadId = "T"): ThreadState {
    const state = this.writer.state(threadId);
    if (state === undefined) throw new Error(`no thread ${threadId}`);
    return state;
  }

  input(inputId: string, threadId = "T"): string {
    return this.state(threadId).inputs.find((input) => input.inputId === inputId)?.state ?? "over";
  }

  /** Everything that was committed, shortly. */
  readonly events = (threadId = "T"): Effect.Effect<ReadonlyArray<LogEvent>> =>
    Effect.orDie(Context.get(this.store, EventLog).page({ after: 0, threadId, limit: 1_000 }));

  readonly types = (threadId = "T"): Effect.Effect<ReadonlyArray<string>> =>
    Effect.map(this.events(threadId), (events) => events.map(({ type }) => type));

  /** The payloads of all events of a type. */
  readonly payloads = (type: string, threadId = "T"): Effect.Effect<ReadonlyArray<Record<string, unknown>>> =>
    Effect.map(this.events(threadId), (events) =>
      events.filter((event) => event.type === type).map(({ payload }) => payload as Record<string, unknown>),
    );

  /** Nothing happens any more without time passing. */
  readonly settled: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    // Fibers that a clock or a test woke first come to where they are counted.
    for (let turn = 0; turn < 3; turn += 1) yield* Effect.promise(() => nextTurn());
    yield* this.engine.quiet;
    while (this.#ingesting > 0) {
      yield* Effect.promise(() => nextTurn());
      yield* this.engine.quiet;
    }
  });

  /** Lets time pass. */
  pass(duration: number): Effect.Effect<void> {
    return Effect.andThen(TestClock.adjust(duration), this.settled);
  }

  /** The runtime says something, and everything that follows happens. */
  says(threadId: string, ...events: ReadonlyArray<RuntimeEvent>): Effect.Effect<void> {
    return Effect.andThen(this.stub.say(threadId, ...events), this.settled);
  }

  apply(threadId: string, generation: number, event: RuntimeEvent): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#ingesting += 1;
      return Effect.ensuring(
        Effect.orDie(
          this.writer.step(threadId, (tx) => {
            for (const command of interpret(event, generation))
              tx.decide(command, { actor: { kind: "runtime", id: "stub" } });
          }),
        ),
        Effect.sync(() => {
          this.#ingesting -= 1;
        }),
      );
    });
  }

  #ports() {
    const submit = (threadId: string, generation: number, record: RuntimeRecord) =>
      Effect.forEach(record.events, (event) => this.apply(threadId, generation, event), { discard: true });
    const log = (what: string) => Effect.sync(() => void this.ingestion.push(what));
    return Layer.mergeAll(
      Layer.succeed(RecordSink, { submit }),
      Layer.succeed(Ingested, {
        flush: (threadId) =>
          Effect.andThen(
            log(`flush ${threadId}`),
            Effect.suspend(() => this.flush),
          ),
        replay: (threadId) =>
          Effect.andThen(
            log(`replay ${threadId}`),
            Effect.forEach(
              this.journal.filter((entry) => entry.threadId === threadId),
              ({ generation, event }) => this.apply(threadId, generation, event),
              { discard: true },
            ),
          ),
      }),
      Layer.succeed(Survivors, {
        end: (process) =>
          Effect.sync(() => {
            this.ended.push(process);
            return this.canEnd;
          }),
      }),
      Layer.succeed(Places, {
        realFolder: (path) =>
          Effect.sync(() => (path.startsWith("/") && path !== this.missingFolder ? path : undefined)),
        roots: Effect.sync(() => this.roots),
      }),
      Layer.succeed(Runtimes, {
        describe: (instance) =>
          Effect.sync(() => ({ known: instance === "stub", refusedOptions: this.refusedOptions })),
        find: (instance) => Effect.succeed({ adapter: this.stub.adapter, instance: { id: instance, runtime: "stub" } }),
      }),
      Layer.succeed(Facts, {
        input: (threadId, inputId) =>
          Effect.andThen(
            Effect.suspend(() => this.beforeSending),
            Effect.map(this.events(threadId), (events) => contentOf(events, inputId)),
          ),
        threadsOf: () => Effect.sync(() => this.threads),
      }),
    );
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** What an input says, folded from the log. */
const contentOf = (events: ReadonlyArray<LogEvent>, inputId: string): InputContent | undefined => {
  let content: InputContent | undefined;
  for (const { type, payload } of events) {
    const of = payload as InputContent & { readonly inputId?: string };
    if (of.inputId !== inputId) continue;
    if (type === "input.queued") content = of;
    if (type === "input.edited" && content !== undefined) content = { ...content, text: of.text };
  }
  return content;
};

const noProjection = Layer.succeed(Projection, { tables: [], version: 1, project: () => [] });

/** A world with a started engine, for one test. */
export const makeWorld = Effect.fnUntraced(function* (options: WorldOptions = {}) {
  const scope = yield* Effect.scope;
  const store = yield* Layer.buildWithScope(Store.layerMemory().pipe(Layer.provide(noProjection)), scope);
  const world = new World(store, options);
  yield* world.boot;
  return world;
});

export const started = (turnId: string, ...inputIds: ReadonlyArray<string>): RuntimeEvent => ({
  type: "turn.started",
  turnId,
  payload: { ...(inputIds.length === 0 ? {} : { inputIds }), origin: "input" },
});

export const completed = (
  turnId: string,
  outcome: "completed" | "failed" | "interrupted" = "completed",
): RuntimeEvent => ({
  type: "turn.completed",
  turnId,
  payload: { outcome },
});

export const approval = (requestId: string, turnId: string, more: Record<string, unknown> = {}): RuntimeEvent => ({
  type: "request.opened",
  requestId,
  turnId,
  payload: {
    kind: "approval",
    action: "command",
    title: "Run it?",
    options: [
      { id: "yes", label: "Yes", effect: "allow", scope: "once" },
      { id: "no", label: "No", effect: "reject", scope: "once" },
    ],
    ...more,
  },
});

export { Signals };
