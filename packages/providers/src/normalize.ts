/** From a native recording to canonical events, starting nothing: `tributary normalize`, and `feed` in scenario files. */
import type { RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import { Schema } from "effect";
import { exitRecord } from "./exit.ts";
import { readRecording } from "./recording.ts";
import { findTranslator, translatorNames } from "./registry.ts";

/** No translator has this name; the message lists those there are. */
export class UnknownTranslator extends Schema.TaggedError<UnknownTranslator>()("UnknownTranslator", {
  runtime: Schema.String,
  known: Schema.Array(Schema.String),
  message: Schema.String,
}) {}

/** A record of a recording, with the process it came from: the first one recorded is generation 1. */
export interface NormalizedRecord {
  readonly generation: number;
  readonly record: RuntimeRecord;
}

/**
 * The records of a recording, one for each native frame, in its order. Every further process in it (`meta` `spawn`, or
 * frames after an exit) is the next generation.
 *
 * Throws `UnknownTranslator`, and `RecordingError` at a line that is none; what came before was yielded.
 */
export function* normalizeRecords(runtime: string, lines: string | Iterable<string>): Generator<NormalizedRecord> {
  const translator = findTranslator(runtime);
  if (translator === undefined)
    throw new UnknownTranslator({
      runtime,
      known: translatorNames,
      message: `there is no translator "${runtime}": use one of ${translatorNames.join(", ")}`,
    });
  let generation = 1;
  let translate = translator.start({ generation });
  let lived = false;
  let over = false;
  const nextProcess = (): void => {
    generation += 1;
    translate = translator.start({ generation });
    lived = false;
    over = false;
  };
  for (const line of readRecording(lines)) {
    if (line.kind === "spawn" ? lived : line.kind === "frame" && over) nextProcess();
    if (line.kind === "spawn" || line.kind === "note") continue;
    lived = true;
    if (line.kind === "exit") {
      over = true;
      yield { generation, record: exitRecord(line, { generation, recoverable: translator.recoverable, isOpen: true }) };
    } else for (const record of translate(line)) yield { generation, record };
  }
}

/** The canonical events of a recording, in order. Throws as `normalizeRecords` does. */
export const normalize = (runtime: string, lines: string | Iterable<string>): ReadonlyArray<RuntimeEvent> =>
  [...normalizeRecords(runtime, lines)].flatMap(({ record }) => record.events);
