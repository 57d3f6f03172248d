/** Commands that read a file and print what follows from it: no data folder, no server. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { Effect } from "effect";
import { asFailure, usage } from "./failure.ts";
import { print } from "./output.ts";

const readInput = (path: string) =>
  Effect.try({
    try: () => readFileSync(path === "-" ? 0 : path, "utf8"),
    catch: (cause) =>
      usage(
        `${path === "-" ? "Standard input" : path} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      ),
  });

/** Prints canonical events, one a line. */
export const normalize = Effect.fn("cli.normalize")(function* (runtime: string, path: string) {
  const text = yield* readInput(path);
  const { normalizeRecords } = yield* Effect.promise(() => import("@tributary/providers"));
  const records = normalizeRecords(runtime, text);
  for (;;) {
    const { done, value } = yield* Effect.try({
      try: () => records.next(),
      catch: (error) => usage(asFailure(error).message),
    });
    if (done === true) return;
    yield* print(value.record.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  }
});

/** Prints one JSON document. */
export const scenario = Effect.fn("cli.scenario")(function* (path: string) {
  const text = yield* readInput(path);
  const { runScenario } = yield* Effect.promise(() => import("../scenario/run.ts"));
  const folder = path === "-" ? process.cwd() : dirname(path);
  const output = yield* Effect.mapError(runScenario(text, { folder }), asFailure);
  yield* print(`${JSON.stringify(output, null, 2)}\n`);
});
