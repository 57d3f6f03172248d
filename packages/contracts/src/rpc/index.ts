export * from "./access.ts";
export * from "./close-codes.ts";
export * from "./frames.ts";
export * from "./group.ts";
export * from "./messages.ts";
