/** What scripts outside this package use of its test support. */
export { runScenario, type ScenarioOutput } from "../../src/scenario/run.ts";
export { openWithoutSession } from "./open-work.ts";
export { afterLine, scenarioFiles, scriptLines, type ScenarioFile } from "./scenario-file.ts";
export { startServer, type TestServer } from "./server.ts";
export { startReaders, type Readers } from "./readers.ts";
