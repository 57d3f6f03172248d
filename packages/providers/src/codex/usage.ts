/**
 * Tokens. Codex gives the thread's totals, over all its processes, and the last request's (`thread/tokenUsage/updated`).
 * What a turn used is the difference between the totals at its end and before its first request: exact, not estimated.
 */
import type { Usage } from "@tributary/contracts";
import { asCount, defined, type NativeObject } from "../native.ts";
import type { OpenTurn, TurnUsage } from "./state.ts";

/** `inputTokens` includes the cached ones, `outputTokens` the reasoning, as the vendor counts. */
const fields = [
  ["inputTokens", "inputTokens"],
  ["cachedInputTokens", "cachedInputTokens"],
  ["cacheWriteTokens", "cacheWriteInputTokens"],
  ["outputTokens", "outputTokens"],
  ["reasoningTokens", "reasoningOutputTokens"],
] as const;

type Tokens = Pick<Usage, (typeof fields)[number][0]>;

export const tokensOf = (native: NativeObject): Tokens =>
  Object.fromEntries(
    fields.flatMap(([ours, theirs]) => {
      const count = asCount(native[theirs]);
      return count === undefined ? [] : [[ours, count] as const];
    }),
  );

/** Field by field `one − other`; what either lacks, or what would be negative, is left out. */
const minus = (one: NativeObject, other: NativeObject): NativeObject =>
  Object.fromEntries(
    Object.entries(one).flatMap(([name, value]) => {
      const [from, less] = [asCount(value), asCount(other[name])];
      return from === undefined || less === undefined || from < less ? [] : [[name, from - less] as const];
    }),
  );

/** Takes an update into what is known of the turn; the first one tells what was used before. */
export const totalsOf = (
  known: TurnUsage | undefined,
  total: NativeObject,
  last: NativeObject,
  window: number | undefined,
): TurnUsage => ({ before: known?.before ?? minus(total, last), total, last, ...defined({ window }) });

/** What the turn used; nothing where no update came. */
export const turnUsageOf = ({ usage }: OpenTurn, model: string | undefined): Usage | undefined =>
  usage === undefined
    ? undefined
    : {
        ...tokensOf(minus(usage.total, usage.before)),
        ...defined({ contextTokens: asCount(usage.last["totalTokens"]), contextWindow: usage.window, model }),
      };
