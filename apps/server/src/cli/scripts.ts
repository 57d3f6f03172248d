/** Commands that read a file and print what follows from it: no data folder, no server. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { Effect } from "effect";
import { asFailure, usage } from "./failure.ts";
import { print } from "./output.ts";

const readInput = (path: string) =>
  Effect.tryPromise({
    try: () => (path === "-" ? text(process.stdin) : readFile(path, "utf8")),
    catch: (cause) =>
      usage(
        `${path === "-" ? "Standard input" : path} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      ),
  });

/** Prints canonical events, one a line. */
export const normalize = Effect.fn("cli.normalize")(function* (runtime: string, path: string) {
  const { normalizeRecords, translatorNames } = yield* Effect.promise(() => import("@tributary/providers"));
  if (!translatorNames.includes(runtime))
    return yield* usage(`There is no translator “${runtime}”: use one of ${translatorNames.join(", ")}.`);
  const records = normalizeRecords(runtime, yield* readInput(path));
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
  const script = yield* readInput(path);
  const { runScenario } = yield* Effect.promise(() => import("../scenario/run.ts"));
  const folder = path === "-" ? process.cwd() : dirname(path);
  const output = yield* Effect.mapError(runScenario(script, { folder }), asFailure);
  yield* print(`${JSON.stringify(output, null, 2)}\n`);
});
