export { projector } from "./projector.ts";
export { CursorInvalid, decodeCursor, encodeCursor } from "./cursor.ts";
export { Views, type RequestPage, type ShellPage } from "./views.ts";
export { scenarioState, type ScenarioState, type ScenarioThread } from "./scenario-state.ts";
export { threadStatus, type StatusFacts } from "./status.ts";
export type { ItemOutput } from "./queries/items.ts";
export type { SessionRecord } from "./queries/sessions.ts";
export type { ShellExtras } from "./queries/shells.ts";
export type { TurnDiff } from "./queries/turns.ts";
