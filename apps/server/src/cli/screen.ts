/** Writes pieces so that text and notes never run into each other, also when both go to one terminal. */
import { Effect } from "effect";
import { dim, print, printError } from "./output.ts";
import type { Piece } from "./render.ts";

export interface Screen {
  readonly write: (pieces: ReadonlyArray<Piece>) => Effect.Effect<void>;
  /** A line of our own. */
  readonly note: (text: string) => Effect.Effect<void>;
  /** Ends a line that text left open. */
  readonly endLine: Effect.Effect<void>;
}

export const makeScreen = (): Screen => {
  /** Whether anything was written, and whether the last character of text ended its line. */
  let begun = false;
  let lineOpen = false;

  const endLine = Effect.suspend(() => {
    if (!lineOpen) return Effect.void;
    lineOpen = false;
    return print("\n");
  });

  const text = (value: string) =>
    Effect.suspend(() => {
      const shown = begun ? value : value.replace(/^\n/, "");
      if (shown === "") return Effect.void;
      begun = true;
      // A message's own first line break ends the line that the last one left open.
      const own = shown.startsWith("\n") && !lineOpen ? shown.slice(1) : shown;
      lineOpen = !own.endsWith("\n");
      return print(own);
    });

  const note = (value: string) =>
    Effect.andThen(
      endLine,
      Effect.suspend(() => {
        begun = true;
        return printError(`${dim(value)}\n`);
      }),
    );

  return {
    write: (pieces) =>
      Effect.forEach(pieces, (piece) => (piece.to === "text" ? text(piece.text) : note(piece.text)), { discard: true }),
    note,
    endLine,
  };
};
