export * from "./state.ts"
