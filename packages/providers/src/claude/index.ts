export { claude, makeClaude } from "./adapter.ts";
export { initialState } from "./state.ts";
export { claudeTranslator, translate } from "./translate.ts";
