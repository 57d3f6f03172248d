import type { InstanceConfig } from "@tributary/contracts";
import { Api, Internal } from "@tributary/contracts/api";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { Configuration } from "../../config/Configuration.ts";
import type { ConfigurationError } from "../../config/Configuration.ts";
import { Instances } from "../../Instances.ts";
import { calls } from "../calls.ts";
import { badRequest, notFound } from "../problems.ts";

const noInstance = (id: string) => notFound(`There is no instance ${id}; GET /instances lists them.`);
const unwritable = ({ message }: ConfigurationError) => new Internal({ detail: message, userAction: "none" });

/** Changes the configured instances; `change` gets undefined for one that is not configured yet. */
const rewrite = Effect.fnUntraced(function* (
  id: string,
  change: (current: InstanceConfig | undefined) => InstanceConfig | undefined,
) {
  const configuration = yield* Configuration;
  yield* Effect.mapError(
    configuration.update(({ instances, ...config }) => {
      const at = instances.findIndex((one) => one.id === id);
      const next = change(instances[at]);
      const rest = instances.filter((one) => one.id !== id);
      return {
        ...config,
        instances: next === undefined ? rest : rest.toSpliced(at === -1 ? rest.length : at, 0, next),
      };
    }),
    unwritable,
  );
});

const shown = Effect.fnUntraced(function* (id: string) {
  const instances = yield* Instances;
  const config = instances.config(id);
  return config === undefined ? yield* noInstance(id) : yield* instances.view(config);
});

/** Configured runtimes. They live in the configuration file, so none of this is a command. */
export const instanceCalls = calls("instances")({
  list: () =>
    Effect.map(
      Instances.use(({ views }) => views),
      (views) => ({ instances: views }),
    ),
  get: ({ params }) => shown(params.instanceId),
  create: Effect.fnUntraced(function* ({ payload }) {
    const configuration = yield* Configuration;
    if (configuration.current().instances.some(({ id }) => id === payload.id))
      return yield* badRequest(`There is an instance ${payload.id} already; change it with PATCH.`, ["payload", "id"]);
    yield* rewrite(payload.id, () => payload);
    return yield* shown(payload.id);
  }),
  update: Effect.fnUntraced(function* ({ params: { instanceId }, payload }) {
    const current = (yield* Instances).config(instanceId);
    if (current === undefined) return yield* noInstance(instanceId);
    yield* rewrite(instanceId, (configured) => ({ ...(configured ?? current), ...payload }));
    return yield* shown(instanceId);
  }),
  remove: Effect.fnUntraced(function* ({ params: { instanceId } }) {
    const configuration = yield* Configuration;
    if (!configuration.current().instances.some(({ id }) => id === instanceId)) return yield* noInstance(instanceId);
    yield* rewrite(instanceId, () => undefined);
    return { instanceId };
  }),
});

export const instances = HttpApiBuilder.group(Api, "instances", (handlers) => handlers.handleAll(instanceCalls));
