export { stubbornCommand, mockQuestion, planStages, scenarios } from "./scenarios.ts";
export { MockModel, MockModelError } from "./MockModel.ts";
export { startMockModel, type MockModelOptions, type RunningMockModel } from "./server.ts";
export type { JournalEntry, Outcome, Predicate } from "./journal.ts";
export * as mockTexts from "./texts.ts";
export {
  claudeEnvironment,
  claudeModel,
  codexEnvironment,
  codexHome,
  codexModel,
  codexModelCatalog,
} from "./recipes.ts";
