/** What engine and ingestion ask for, from the packages that have it. */
import { OpenError } from "@tributary/contracts";
import { Engine, Facts, Ingested, placesLayer, RecordSink, Runtimes, Survivors } from "@tributary/engine";
import type { Places } from "@tributary/engine";
import { ProviderRuntimeIngestion, Secrets } from "@tributary/ingestion";
import { Views } from "@tributary/projections";
import { endTree } from "@tributary/providers";
import { RowReader, StoreError } from "@tributary/store";
import { Effect, Layer } from "effect";
import { Instances } from "./Instances.ts";
import { KnownSecrets } from "./KnownSecrets.ts";

const unavailable = (message: string): OpenError =>
  new OpenError({ code: "runtime_unavailable", failure: { class: "validation", message, retryable: true } });

/** Configured instances, and the adapters of the registry. */
export const runtimesLayer: Layer.Layer<Runtimes, never, Instances> = Layer.effect(
  Runtimes,
  Effect.map(Instances, (instances) => ({
    describe: Effect.fnUntraced(function* (id: string) {
      const config = instances.config(id);
      if (config === undefined) return { known: false, refusedOptions: {} };
      const { installation } = yield* instances.installation(config);
      return { known: true, refusedOptions: installation.capabilities?.refusedOptions ?? {} };
    }),
    find: Effect.fnUntraced(function* (id: string) {
      const instance = instances.config(id);
      if (instance === undefined)
        return yield* unavailable(`There is no instance ${id} any more: add it to config.json, or use another thread.`);
      if (instance.enabled === false)
        return yield* unavailable(`The instance ${id} is switched off: set \`enabled\` to true in config.json.`);
      const adapter = yield* instances.adapter(instance.runtime);
      return adapter === undefined
        ? yield* unavailable(`There is no runtime “${instance.runtime}”: correct the instance ${id} in config.json.`)
        : { adapter, instance };
    }),
  })),
);

/** Folders of this machine under the roots of registered projects. */
export const realPlaces: Layer.Layer<Places, never, Views> = Layer.unwrap(
  Effect.map(Views, (views) =>
    placesLayer(Effect.map(views.projects, (all) => all.map(({ projectId, root }) => ({ projectId, root })))),
  ),
);

/** Facts that rows hold. */
export const factsLayer: Layer.Layer<Facts, never, Views | RowReader> = Layer.effect(
  Facts,
  Effect.gen(function* () {
    const views = yield* Views;
    const reader = yield* RowReader;
    return {
      input: (threadId, inputId) =>
        Effect.map(views.inputs(threadId), (inputs) => {
          const found = inputs.find(({ id }) => id === inputId);
          if (found === undefined) return undefined;
          const { text, attachments, origin, planId } = found;
          return {
            text,
            origin,
            ...(attachments === undefined ? {} : { attachments }),
            ...(planId === undefined ? {} : { planId }),
          };
        }),
      threadsOf: (projectId) =>
        Effect.try({
          try: () =>
            Number(
              reader.get("SELECT count(*) AS n FROM {threads} WHERE project_id = ? AND deleted = 0", projectId)?.[
                "n"
              ] ?? 0,
            ),
          catch: (cause) =>
            new StoreError({ reason: "io", message: "The threads of a project can't be counted.", cause }),
        }),
    };
  }),
);

/** Processes that an old host, or a session that would not end, left behind. */
export const survivorsLayer: Layer.Layer<Survivors> = Layer.succeed(Survivors, {
  end: ({ identity, marker }) =>
    endTree({ marker, ...(identity === undefined ? {} : { identity }) }).pipe(
      Effect.map(({ left }) => left.length === 0),
      Effect.catch((error) => Effect.as(Effect.logWarning(`The process table can't be read: ${error.message}`), false)),
    ),
});

/** Records go where they become durable. */
export const recordSinkLayer: Layer.Layer<RecordSink, never, ProviderRuntimeIngestion> = Layer.effect(
  RecordSink,
  Effect.map(ProviderRuntimeIngestion, ({ submit }) => ({ submit })),
);

export const ingestedLayer: Layer.Layer<Ingested, never, ProviderRuntimeIngestion> = Layer.effect(
  Ingested,
  Effect.map(ProviderRuntimeIngestion, ({ flush, replay }) => ({ flush, replay })),
);

/** What is masked in everything that runtimes say. */
export const secretsLayer: Layer.Layer<never, never, KnownSecrets> = Layer.effect(
  Secrets,
  Effect.map(KnownSecrets, (known) => ({ of: known.of })),
);

/** The engine, with what its commands carry noted on the way in. */
export const engineLayer = Layer.effect(
  Engine,
  Effect.gen(function* () {
    const known = yield* KnownSecrets;
    const engine = yield* Engine;
    return Engine.of({
      ...engine,
      dispatch: (command, who) =>
        Effect.suspend(() => {
          known.note(command);
          return engine.dispatch(command, who);
        }),
    });
  }),
).pipe(Layer.provide(Engine.layer));
