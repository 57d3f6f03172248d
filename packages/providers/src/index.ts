export * from "./process/index.ts";
export { loadAdapter, runtimes } from "./registry.ts";
