export * from "./mock-model/index.ts";
