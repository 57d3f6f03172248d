/** Configured runtimes and those that are found without configuration; what is installed of each. */
import type { Adapter, Installation, InstanceConfig } from "@tributary/contracts";
import type { InstanceView } from "@tributary/contracts/api";
import { loadAdapter, runtimes } from "@tributary/providers";
import { Cache, Context, DateTime, Effect, Layer } from "effect";
import { Configuration } from "./config/Configuration.ts";

export class Instances extends Context.Service<
  Instances,
  {
    /** All that may be named by a thread, the configured ones first. */
    readonly configs: () => ReadonlyArray<InstanceConfig>;
    readonly config: (id: string) => InstanceConfig | undefined;
    /** The adapter of a runtime, loaded at its first use. */
    readonly adapter: (runtime: string) => Effect.Effect<Adapter | undefined>;
    /** What is known of it without opening a session; looked up again after a minute. */
    readonly installation: (config: InstanceConfig) => Effect.Effect<Observed>;
    readonly views: Effect.Effect<ReadonlyArray<InstanceView>>;
    readonly view: (config: InstanceConfig) => Effect.Effect<InstanceView>;
  }
>()("tributary/server/Instances") {
  /** `adapters` stands in for the registry: by runtime. */
  static readonly layer = (
    options: { readonly adapters?: Readonly<Record<string, Adapter>> } = {},
  ): Layer.Layer<Instances, never, Configuration> => Layer.effect(Instances, make(options.adapters ?? {}));
}

export interface Observed {
  readonly installation: Installation;
  /** ISO 8601. */
  readonly observedAt: string;
}

const patience = "10 seconds";

const unknownRuntime = (runtime: string, known: ReadonlyArray<string>): Installation => ({
  available: false,
  problem: `There is no runtime “${runtime}”; known are ${known.join(", ")}. Correct the instance in config.json.`,
});

const unanswered: Installation = {
  available: false,
  problem: `The program did not say within ${patience} what it is; try it by hand.`,
};

const disabled: Installation = {
  available: false,
  problem: "It is switched off: set `enabled` to true in config.json to use it.",
};

const make = Effect.fnUntraced(function* (given: Readonly<Record<string, Adapter>>) {
  const configuration = yield* Configuration;
  const known = [...new Set([...Object.keys(given), ...runtimes])];

  const adapter = (runtime: string): Effect.Effect<Adapter | undefined> =>
    Effect.suspend(() => {
      const own = given[runtime];
      return own === undefined ? Effect.promise(async () => await loadAdapter(runtime)) : Effect.succeed(own);
    });

  // Every runtime can be used by its own name without a line of configuration. The scripted one is there as `demo`.
  const configs = (): ReadonlyArray<InstanceConfig> => {
    const configured = configuration.current().instances;
    const found = runtimes.filter((runtime) => runtime !== "scripted" && !configured.some(({ id }) => id === runtime));
    return [...configured, ...found.map((runtime) => ({ id: runtime, runtime }))];
  };

  const observe = Effect.fnUntraced(function* (config: InstanceConfig) {
    const own = yield* adapter(config.runtime);
    const installation =
      config.enabled === false
        ? disabled
        : own === undefined
          ? unknownRuntime(config.runtime, known)
          : yield* Effect.timeoutOrElse(own.installation(config), {
              duration: patience,
              orElse: () => Effect.succeed(unanswered),
            });
    return { installation, observedAt: DateTime.formatIso(yield* DateTime.now) };
  });
  // Keyed by the whole configuration, so that a changed instance is looked at anew.
  const observed = yield* Cache.make({
    lookup: (config: string) => observe(JSON.parse(config) as InstanceConfig),
    capacity: 64,
    timeToLive: "1 minute",
  });
  const installation = (config: InstanceConfig) => Cache.get(observed, JSON.stringify(config));

  const view = (config: InstanceConfig): Effect.Effect<InstanceView> =>
    Effect.map(installation(config), (seen) => ({
      ...config,
      env: Object.keys(config.env ?? {}),
      configured: configuration.current().instances.some(({ id }) => id === config.id),
      ...seen,
    }));

  return Instances.of({
    configs,
    config: (id) => configs().find((one) => one.id === id),
    adapter,
    installation,
    views: Effect.suspend(() => Effect.forEach(configs(), view, { concurrency: 4 })),
    view,
  });
});
