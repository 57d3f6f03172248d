import { Api, Internal } from "@tributary/contracts/api";
import { Effect, Layer } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { Configuration } from "../../config/Configuration.ts";
import { minimalClient, protocol, version } from "../../version.ts";
import { calls } from "../calls.ts";
import { limits } from "../limits.ts";
import { readMetrics } from "../metrics.ts";

export const systemCalls = calls("system")({
  health: () => Effect.succeed({ status: "ok" as const }),
  version: () => Effect.succeed({ version, protocol, minimalClient }),
});

export const settingsCalls = calls("settings")({
  limits: () => Effect.succeed(limits),
  metrics: () => readMetrics,
  settings: () =>
    Configuration.use((configuration) =>
      Effect.sync(() => {
        const problem = configuration.problem();
        return { settings: configuration.current().settings, ...(problem === undefined ? {} : { problem }) };
      }),
    ),
  changeSettings: ({ payload }) =>
    Configuration.use((configuration) =>
      configuration.update((config) => ({ ...config, settings: { ...config.settings, ...payload } })),
    ).pipe(
      Effect.mapBoth({
        onFailure: ({ message }) => new Internal({ detail: message, userAction: "none" }),
        onSuccess: (config) => config.settings,
      }),
    ),
});

const system = HttpApiBuilder.group(Api, "system", (handlers) => handlers.handleAll(systemCalls));
const settings = HttpApiBuilder.group(Api, "settings", (handlers) => handlers.handleAll(settingsCalls));

/** Liveness, build, limits, counters, settings. */
export const systemAndSettings = Layer.mergeAll(system, settings);
