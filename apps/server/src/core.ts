/**
 * All parts put together: store → projections → ingestion → engine, and the ports that each leaves open filled from the
 * part that has it. Read this to know what depends on what.
 */
import type { Adapter } from "@tributary/contracts";
import { Engine, Sessions } from "@tributary/engine";
import { JournalSweep, ProviderRuntimeIngestion } from "@tributary/ingestion";
import { projector, Views } from "@tributary/projections";
import { Projection, ReadMarkers, Store } from "@tributary/store";
import type { StoreError } from "@tributary/store";
import { Clock, Effect, Layer } from "effect";
import { Configuration } from "./config/Configuration.ts";
import { prepareDataFolder } from "./config/data-folder.ts";
import type { DataFolderError } from "./config/data-folder.ts";
import { Instances } from "./Instances.ts";
import { KnownSecrets } from "./KnownSecrets.ts";
import {
  engineLayer,
  factsLayer,
  ingestedLayer,
  realPlaces,
  recordSinkLayer,
  runtimesLayer,
  secretsLayer,
  survivorsLayer,
} from "./ports.ts";

export type CoreError = StoreError | DataFolderError;

export interface CoreOptions {
  /** The data folder; absolute. Made where it is missing. */
  readonly dir: string;
  /**
   * Whether the engine begins: reconciles, takes commands, and goes on with what waits. Without it the store can be read
   * and cared for, and a command waits for ever.
   */
  readonly start: boolean;
  /** Over the setting `durability`. */
  readonly synchronous?: "full" | "normal";
  /** The clock of everything that waits or is dated; the system's unless said. */
  readonly clock?: Clock.Clock;
  /** Adapters that stand in for the registry's, by runtime. */
  readonly adapters?: Readonly<Record<string, Adapter>>;
}

/** Settings are read once: durability and what is kept of reasoning hold until the next start. */
const store = ({ dir, synchronous }: CoreOptions) =>
  Layer.unwrap(
    Effect.map(Configuration, (configuration) =>
      Store.layer({ dir, synchronous: synchronous ?? configuration.current().settings.durability ?? "full" }),
    ),
  ).pipe(Layer.provide(Layer.succeed(Projection, projector)));

/** Shells show what is in no event: how far the owner has read, and which runtime an instance is of. */
const views = Layer.unwrap(
  Effect.gen(function* () {
    const markers = yield* ReadMarkers;
    const instances = yield* Instances;
    return Views.layerWith({
      readTo: (threadId) => markers.position("owner", threadId),
      runtimeOf: (instance) => instances.config(instance)?.runtime,
    });
  }),
);

const ingestion = Layer.unwrap(
  Effect.map(Configuration, (configuration) => {
    const { reasoning } = configuration.current().settings;
    return ProviderRuntimeIngestion.layer(reasoning === undefined ? {} : { reasoning });
  }),
).pipe(Layer.provide(secretsLayer));

/** Old journal records go in the background, by settings that may change at any time. */
const sweeping = Layer.unwrap(
  Effect.map(Configuration, (configuration) =>
    JournalSweep.layer(() => {
      const { journalMaxAgeDays: maxAgeDays, journalMaxBytes: maxBytes } = configuration.current().settings;
      return { ...(maxAgeDays === undefined ? {} : { maxAgeDays }), ...(maxBytes === undefined ? {} : { maxBytes }) };
    }),
  ),
);

const ports = Layer.mergeAll(
  runtimesLayer,
  realPlaces,
  factsLayer,
  survivorsLayer,
  recordSinkLayer,
  ingestedLayer,
  Sessions.layer,
);

/** Begins, and ends in good order before the parts below are closed. */
const running = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine;
    yield* Effect.addFinalizer(() => engine.shutdown);
    yield* engine.start;
  }),
);

const layer = (options: CoreOptions) => {
  const { dir, start, adapters, clock } = options;
  return (start ? Layer.merge(running, sweeping) : Layer.empty).pipe(
    Layer.provideMerge(engineLayer),
    Layer.provide(ports),
    Layer.provideMerge(ingestion),
    Layer.provideMerge(KnownSecrets.layer),
    Layer.provideMerge(views),
    Layer.provideMerge(store(options)),
    Layer.provideMerge(Instances.layer(adapters === undefined ? {} : { adapters })),
    Layer.provideMerge(Configuration.layer({ dir })),
    Layer.provide(clock === undefined ? Layer.empty : Layer.succeed(Clock.Clock, clock)),
  );
};

/** Tributary over a data folder, without a wire. */
export const Core = {
  layer: (options: CoreOptions) =>
    Layer.unwrap(Effect.map(prepareDataFolder(options.dir), (dir) => layer({ ...options, dir }))),
};
