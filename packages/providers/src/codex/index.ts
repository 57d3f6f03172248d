export { codexTranslator, translate } from "./translate.ts";
export { initialState } from "./state.ts";
