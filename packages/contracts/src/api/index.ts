export * from "./access.ts";
export * from "./api.ts";
export * from "./instances.ts";
export * from "./live.ts";
export * from "./maintenance.ts";
export * from "./problems.ts";
export { Accepted, Cursor, Limit } from "./shared.ts";
export * from "./system.ts";
