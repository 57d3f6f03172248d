/**
 * The whole text that a runtime gives when an item is completed, against what it streamed (4.5). Piece by piece by hash:
 * what is in the log is not read back.
 *
 *      streamed   [ Hello ][ \n ][ wor ]          whole   Hello\nworld
 *                  same     same   same … "ld" is the rest, and goes to the open segment or a new one
 *
 * W1 Pieces within the common prefix stay as they are.
 * W2 The first message that differs is replaced by all that is left; messages after it are retracted.
 * W3 Dropped whitespace has no message: where it differs it is forgotten, and the comparison goes on behind it.
 * W4 Afterwards the pieces that remain make the whole text, exactly (I4).
 */
import { hashText, sameHash } from "./text-hash.ts";
import type { TextHash } from "./text-hash.ts";

/** One piece that was streamed and is not retracted, in order. */
export interface StreamedPiece {
  /** Code units in the log, and their hash. */
  readonly committed: number;
  readonly hash: TextHash | undefined;
  /** What is not in the log yet. */
  readonly held: string;
  /** Whitespace that made no message. */
  readonly dropped: boolean;
}

export interface Comparison {
  /** Dropped whitespace that the whole text does not have, by index. */
  readonly forgotten: ReadonlyArray<number>;
  readonly outcome:
    | { readonly kind: "same" }
    /** The whole goes on: `rest` follows the last piece. */
    | { readonly kind: "longer"; readonly rest: string }
    /** Piece `index` is to be replaced by `rest`, or retracted where nothing is left; later ones are to go. */
    | { readonly kind: "differs"; readonly index: number; readonly rest: string }
    /** A piece's text is known only from the log. */
    | { readonly kind: "unknown" };
}

const matches = (piece: StreamedPiece & { readonly hash: TextHash }, whole: string, at: number): boolean => {
  const end = at + piece.committed;
  if (end + piece.held.length > whole.length) return false;
  return whole.startsWith(piece.held, end) && sameHash(hashText(whole, undefined, at, end), piece.hash);
};

export const compareWhole = (pieces: ReadonlyArray<StreamedPiece>, whole: string): Comparison => {
  const forgotten: Array<number> = [];
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const { hash } = piece;
    if (hash === undefined) return { forgotten: [], outcome: { kind: "unknown" } };
    if (matches({ ...piece, hash }, whole, at)) at += piece.committed + piece.held.length;
    else if (piece.dropped) forgotten.push(index);
    else return { forgotten, outcome: { kind: "differs", index, rest: whole.slice(at) } };
  }
  const rest = whole.slice(at);
  return { forgotten, outcome: rest === "" ? { kind: "same" } : { kind: "longer", rest } };
};
