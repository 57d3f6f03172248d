/** What is said to an agent: as it was typed, or for `-` what comes over standard input. */
import { text } from "node:stream/consumers";
import { Effect } from "effect";
import { usage } from "./failure.ts";
import type { CliFailure } from "./failure.ts";

export const fromInput = "-";

/** Nobody means to say nothing: a variable was empty, or a file. */
export const wordsOf = Effect.fnUntraced(function* (
  typed: string,
  attach: ReadonlyArray<string>,
  input: NodeJS.ReadableStream = process.stdin,
): Effect.fn.Return<string, CliFailure> {
  const words =
    typed === fromInput
      ? (yield* Effect.tryPromise({
          try: () => text(input),
          catch: (cause) => usage(`Standard input can't be read: ${String(cause)}`),
        })).replace(/\r?\n$/, "")
      : typed;
  if (words.trim() === "" && attach.length === 0) return yield* usage("There is nothing to say: the text is empty.");
  return words;
});
