import { readFileSync } from "node:fs";
import type { JsonObject } from "../../src/mock-model/json.ts";

const read = (name: string): ReadonlyArray<JsonObject> =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8")) as ReadonlyArray<JsonObject>;

/** The tools that Codex 0.171.0 offers with the catalog of `recipes.ts`; descriptions left out. */
export const codexTools = read("codex-0.171.0-tools.json");
/** The tools that Claude Code 2.1.332 offers before anything is looked up; descriptions left out. */
export const claudeTools = read("claude-2.1.332-tools.json");
/** Some of those that it only names until its `ToolSearch` was called. */
export const claudeDeferredTools = read("claude-2.1.332-deferred-tools.json");
