/**
 * The world of a scenario: the real store, ingestion and engine over a temporary folder, the stub in the place of
 * runtimes, a clock that stands still. A world can be ended in order, or dropped like a process that was killed.
 */
import {
  defaultTimings,
  Engine,
  EngineSettings,
  Ingested,
  Places,
  RecordSink,
  Runtimes,
  Sessions,
  Survivors,
} from "@tributary/engine";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { projector, Views } from "@tributary/projections";
import { EventLog, Projection, Refusals, RowReader, Store, StoreConnections, Writer } from "@tributary/store";
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect";
import { factsLayer } from "../ports.ts";
import type { Stub } from "./stub.ts";
import { mortal } from "./virtual-clock.ts";

/** What outlives a world: the folder, the clock, the stub, and in a replay the sessions. */
export interface Lasting {
  readonly dir: string;
  readonly clock: Clock.Clock;
  readonly stub: Stub;
}

type Sink = RecordSink["Service"];

/** Sessions that go on when the host's memory is gone, and where their records go meanwhile. */
export interface Survivings {
  readonly sessions: Sessions["Service"];
  readonly sink: { to: Sink | undefined };
}

export const noSurvivings = (): Survivings => ({ sessions: { byThread: new Map() }, sink: { to: undefined } });

export interface World {
  readonly engine: Engine["Service"];
  readonly ingestion: ProviderRuntimeIngestion["Service"];
  readonly writer: Writer["Service"];
  readonly log: EventLog["Service"];
  readonly rows: RowReader["Service"];
  readonly refusals: Refusals["Service"];
  readonly store: Store["Service"];
  /** They count what is executed. */
  readonly connections: StoreConnections["Service"];
  /** Shuts down in order: everything held is flushed, sessions are closed. */
  readonly end: Effect.Effect<void>;
  /** Memory is gone: nothing more is written, whatever is under way. */
  readonly drop: Effect.Effect<void>;
}

/** Every folder exists and counts as registered. */
const places = Layer.succeed(Places, {
  realFolder: (path) => Effect.succeed(path),
  roots: Effect.succeed([{ projectId: "scenario", root: "/" }]),
});

const runtimes = (stub: Stub) =>
  Layer.succeed(Runtimes, {
    describe: () => Effect.sync(() => ({ known: true, refusedOptions: stub.declared().refusedOptions })),
    find: (instance) => Effect.succeed({ adapter: stub.adapter, instance: { id: instance, runtime: "stub" } }),
  });

const ingested = Layer.effect(
  Ingested,
  Effect.map(ProviderRuntimeIngestion, ({ flush, replay }) => ({ flush, replay })),
);

/** Markers are counted, so that a run can be repeated to the letter. */
const settings = Layer.succeed(EngineSettings, {
  timings: defaultTimings,
  marker: (threadId, generation) =>
    Effect.succeed(`scenario-${Buffer.from(threadId).toString("hex").slice(0, 64)}-${generation}`),
});

const layer = ({ dir, stub }: Lasting, { sessions, sink }: Survivings) =>
  Engine.layer.pipe(
    Layer.provide([
      places,
      runtimes(stub),
      ingested,
      factsLayer,
      Layer.succeed(Survivors, { end: () => Effect.succeed(true) }),
      Layer.succeed(Sessions, sessions),
      Layer.succeed(RecordSink, {
        submit: (threadId, generation, record) =>
          Effect.suspend(() => sink.to?.submit(threadId, generation, record) ?? Effect.void),
      }),
      settings,
    ]),
    Layer.provideMerge(ProviderRuntimeIngestion.layer()),
    Layer.provideMerge(Views.layer),
    Layer.provideMerge(Store.layer({ dir, synchronous: "normal" })),
    Layer.provide(Layer.succeed(Projection, projector)),
  );

/** Opens the store, reconciles what is not handed on, and takes commands. */
export const openWorld = Effect.fnUntraced(function* (lasting: Lasting, survivings: Survivings) {
  const scope = Scope.makeUnsafe();
  const time = mortal(lasting.clock);
  const services = yield* Layer.buildWithScope(layer(lasting, survivings), scope).pipe(
    Effect.provideService(Clock.Clock, time.clock),
  );
  const connections = Context.get(services, StoreConnections);
  const engine = Context.get(services, Engine);
  const ingestion = Context.get(services, ProviderRuntimeIngestion);
  survivings.sink.to = ingestion;
  yield* Effect.provideService(engine.start, Clock.Clock, time.clock);
  const close = Effect.ignoreCause(Scope.close(scope, Exit.void));
  const world: World = {
    engine,
    ingestion,
    writer: Context.get(services, Writer),
    log: Context.get(services, EventLog),
    rows: Context.get(services, RowReader),
    refusals: Context.get(services, Refusals),
    store: Context.get(services, Store),
    connections,
    end: Effect.andThen(engine.shutdown, close),
    drop: Effect.suspend(() => {
      survivings.sink.to = undefined;
      for (const connection of [connections.main, connections.journal]) connection.close();
      time.die();
      return close;
    }),
  };
  return world;
});
