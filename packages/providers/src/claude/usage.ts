/**
 * Tokens and money. A result's `usage` counts the main loop of its turn, `modelUsage` and `total_cost_usd` everything of
 * the whole session, earlier processes included: a turn's cost is the difference. `usage` of assistant frames is a
 * placeholder and never read.
 */
import type { Usage } from "@tributary/contracts";
import { asCount, asObject, asText, defined, type NativeObject } from "../native.ts";
import { agentKey, objectIn, rootPlace } from "./place.ts";
import { nothing, type Said, say } from "./said.ts";
import { type ClaudeState, put } from "./state.ts";

const asAmount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Tokens as the model service counts them: `inputTokens` are those that came from no cache. */
const tokensOf = (usage: NativeObject): Usage =>
  defined({
    inputTokens: asCount(usage["input_tokens"]),
    cachedInputTokens: asCount(usage["cache_read_input_tokens"]),
    cacheWriteTokens: asCount(usage["cache_creation_input_tokens"]),
    outputTokens: asCount(usage["output_tokens"]),
    reasoningTokens: asCount(asObject(usage["output_tokens_details"])?.["thinking_tokens"]),
  });

const isZero = (usage: Usage): boolean => Object.values(usage).every((count) => count === 0);

/** The models of a `modelUsage` map. */
const modelsOf = (value: unknown): ReadonlyArray<readonly [model: string, usage: NativeObject]> =>
  Object.entries(asObject(value) ?? {}).flatMap(([model, usage]) => {
    const object = asObject(usage);
    return object === undefined ? [] : [[model, object] as const];
  });

const sum = (models: ReadonlyArray<NativeObject>, name: string): number | undefined => {
  const counts = models.map((model) => asAmount(model[name])).filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
};

const basisOf = (models: ReadonlyArray<NativeObject>): "list" | "estimated" =>
  models.length > 0 && models.every((model) => model["costBasis"] === "list") ? "list" : "estimated";

/** What the session had cost before this process, asked for when it was resumed. */
export const baseline = (state: ClaudeState, session: NativeObject): Said => {
  const cost = asAmount(session["total_cost_usd"]);
  return nothing(cost === undefined || state.cost !== undefined ? state : { ...state, cost });
};

export interface TurnUsage {
  readonly state: ClaudeState;
  readonly events: Said["events"];
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly costBasis?: "list" | "estimated";
}

/** The cost since the last result: as said, else the difference of the totals. */
const costOf = (state: ClaudeState, result: NativeObject, total: number | undefined): number | undefined => {
  const since = asObject(result["model_usage_since_last_result"]);
  if (since !== undefined)
    return (
      sum(
        modelsOf(since).map(([, usage]) => usage),
        "costUSD",
      ) ?? 0
    );
  if (total === undefined || state.cost === undefined) return undefined;
  // A cleared conversation counts from zero again.
  return total >= state.cost ? total - state.cost : total;
};

/** Usage of a turn that ended, and of the session so far. */
export const resultUsage = (state: ClaudeState, result: NativeObject): TurnUsage => {
  const models = modelsOf(result["modelUsage"]);
  const usages = models.map(([, usage]) => usage);
  const main = models.find(([model]) => model === state.model)?.[1] ?? usages[0];
  const total = asAmount(result["total_cost_usd"]);
  const contextWindow = asCount(main?.["contextWindow"]);
  const costBasis = basisOf(usages);
  const own = tokensOf(objectIn(result, "usage"));
  const counts: Usage = defined({
    inputTokens: asCount(sum(usages, "inputTokens")),
    cachedInputTokens: asCount(sum(usages, "cacheReadInputTokens")),
    cacheWriteTokens: asCount(sum(usages, "cacheCreationInputTokens")),
    outputTokens: asCount(sum(usages, "outputTokens")),
    reasoningTokens: asCount(sum(usages, "thinkingTokens")),
    contextWindow,
    costUsd: total,
    model: state.model,
  });
  const costUsd = costOf(state, result, total);
  return {
    state: { ...state, ...defined({ cost: total, contextWindow }) },
    events:
      usages.length === 0
        ? []
        : [
            say("usage.updated", rootPlace(state), {
              ...counts,
              ...(total === undefined ? {} : { costBasis }),
              basis: "session",
            }),
          ],
    ...(Object.keys(own).length === 0 || isZero(own) ? {} : { usage: own }),
    ...(costUsd === undefined || (isZero(own) && costUsd === 0) ? {} : { costUsd, costBasis }),
  };
};

/** How full the context of the root agent is, by the counts of the model call that ends. */
export const contextUsage = (state: ClaudeState, frame: NativeObject, event: NativeObject): Said => {
  const key = agentKey(frame);
  const message = state.messages.get(key);
  if (message === undefined || key !== "") return nothing(state);
  const native = { ...message.usage, ...withoutNulls(objectIn(event, "usage")) };
  const next = { ...state, messages: put(state.messages, key, { ...message, usage: native }) };
  const parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
  const counts = parts.map((part) => asCount(native[part])).filter((count) => count !== undefined);
  // An interrupted stream has no stop reason: its counts are the placeholders of its beginning.
  if (counts.length === 0 || asText(objectIn(event, "delta")["stop_reason"]) === undefined) return nothing(next);
  const contextTokens = counts.reduce((total, count) => total + count, 0);
  const usage = { contextTokens, ...defined({ contextWindow: state.contextWindow, model: message.model }) };
  return { state: next, events: [say("usage.updated", message.place, { ...usage, basis: "session" })] };
};

const withoutNulls = (native: NativeObject): NativeObject =>
  Object.fromEntries(Object.entries(native).filter(([, value]) => value !== null));
