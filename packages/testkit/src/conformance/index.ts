export { conformance, type Report, type Result, type SuiteOptions, type Verdict } from "./suite.ts";
export { claudeDriver } from "./drivers/claude.ts";
export { codexDriver } from "./drivers/codex.ts";
export { scriptedDriver } from "./drivers/scripted.ts";
export type { Driver, DriverSetup, DriverSource, Instances, Prompts, Said } from "./driver.ts";
export { ServerAddress, serverLayer, serverProcess, type RunningServer, type StartServer } from "./world/server.ts";
export { World } from "./world/world.ts";
export { Stage, type Facts } from "./case.ts";
export { afterwards } from "./world/afterwards.ts";
