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

/** A choice that the catalog does not have for a model. */
export interface UnknownChoice {
  readonly option: "effort" | "serviceTier";
  readonly message: string;
}

/**
 * Codex takes any word as an effort, and later on as a tier (observed): what its own catalog does not have for the model is
 * refused here. A model that is not in the catalog is nobody's to judge.
 */
export const unknownChoice = (
  models: ReadonlyArray<Model>,
  chosen: { readonly model?: string; readonly effort?: string; readonly serviceTier?: string },
): UnknownChoice | undefined => {
  const model = models.find(({ id }) => id === chosen.model);
  if (model === undefined) return undefined;
  const lacks = (
    option: UnknownChoice["option"],
    what: string,
    known: ReadonlyArray<string>,
  ): UnknownChoice | undefined => {
    const wanted = chosen[option];
    if (wanted === undefined || known.includes(wanted)) return undefined;
    const choices = known.length === 0 ? `no ${what}` : `the ${what} ${known.join(", ")}`;
    return { option, message: `${model.id} has ${choices}, not ${wanted}: choose another one` };
  };
  return lacks("effort", "efforts", model.efforts) ?? lacks("serviceTier", "tiers", model.tiers);
};
