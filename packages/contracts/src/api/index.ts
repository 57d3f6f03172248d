export * from "./access.ts";
export * from "./api.ts";
export * from "./problems.ts";
