export * from "./ports.ts"
