export * from "./process/index.ts";
export { findTranslator, loadAdapter, runtimes, translatorNames } from "./registry.ts";
export { normalize, type NormalizedRecord, normalizeRecords, UnknownTranslator } from "./normalize.ts";
export { RecordingError } from "./recording.ts";
export { environmentSecrets } from "./secrets.ts";
export type { NativeFrame, Translation, Translator } from "./translator.ts";
