/** Functions that measure the store, for `scripts/bench`. They time; what is printed beside what is decided there. */
export { storeCommands, type CommandTiming } from "./commands.ts";
export { growth, fillThread, type Growth } from "./growth.ts";
export { rawJournal, storeJournal, type JournalLoad } from "./journal.ts";
export type { StoreLoad, Timing } from "./load.ts";
export { rawCommands } from "./raw.ts";
export { fillStore, rebuildRate, timeToReady } from "./start.ts";
