/** The models that an instance offers, with their efforts and tiers (`model/list`). */
import type { Capabilities } from "@tributary/contracts";
import { Effect } from "effect";
import { asObjects, asText, asWords, defined, type NativeObject } from "../native.ts";

export interface Model {
  readonly id: string;
  readonly label?: string;
  readonly efforts: ReadonlyArray<string>;
  readonly tiers: ReadonlyArray<string>;
  readonly isDefault: boolean;
}

/** Pages that are read at most. */
const MAX_PAGES = 10;

/** All models, page by page. `call` asks `model/list`. */
export const listModels = <E>(
  call: (params: NativeObject) => Effect.Effect<NativeObject, E>,
): Effect.Effect<ReadonlyArray<Model>, E> =>
  Effect.gen(function* () {
    const models: Array<Model> = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const reply = yield* call(defined({ cursor }));
      models.push(...modelsOf(reply));
      cursor = asWords(reply["nextCursor"]);
      if (cursor === undefined) break;
    }
    return models;
  });

const modelsOf = (reply: NativeObject): ReadonlyArray<Model> =>
  asObjects(reply["data"]).flatMap((native) => {
    const id = asWords(native["model"]) ?? asWords(native["id"]);
    if (id === undefined || native["hidden"] === true) return [];
    const model: Model = {
      id,
      ...defined({ label: asWords(native["displayName"]) }),
      efforts: asObjects(native["supportedReasoningEfforts"]).flatMap((each) => asText(each["reasoningEffort"]) ?? []),
      tiers: asObjects(native["serviceTiers"]).flatMap((each) => asText(each["id"]) ?? []),
      isDefault: native["isDefault"] === true,
    };
    return [model];
  });

const distinct = (values: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(values)];

/** What is known of models as capabilities; with a chosen model, its own efforts and tiers. */
export const modelCapabilities = (
  models: ReadonlyArray<Model>,
  chosen?: string,
): Pick<Capabilities, "models" | "efforts" | "serviceTiers"> => {
  if (models.length === 0) return {};
  const own = models.filter(({ id }) => id === chosen);
  const about = own.length > 0 ? own : models;
  return {
    models: distinct(models.map(({ id }) => id)),
    efforts: distinct(about.flatMap(({ efforts }) => efforts)),
    serviceTiers: distinct(about.flatMap(({ tiers }) => tiers)),
  };
};

/** Codex takes any word as an effort: one that the catalog does not have for this model is refused here. */
export const unknownEffort = (
  models: ReadonlyArray<Model>,
  model: string | undefined,
  effort: string,
): string | undefined => {
  const known = models.find(({ id }) => id === model);
  if (known === undefined || known.efforts.length === 0 || known.efforts.includes(effort)) return undefined;
  return `${known.id} has the efforts ${known.efforts.join(", ")}, not ${effort}: choose one of them`;
};
