export { codex } from "./adapter.ts";
export { initialState } from "./state.ts";
export { codexTranslator, translate } from "./translate.ts";
