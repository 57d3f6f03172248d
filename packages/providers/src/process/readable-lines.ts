/**
 * A child's stdout as a stream of lines that is read no faster than it is consumed.
 */
import type { Readable } from "node:stream";

import { Cause, Effect, Latch, Stream } from "effect";
import { isReadonlyArrayNonEmpty } from "effect/Array";

import { type Line, LineSplitter } from "./lines.ts";

/**
 * Lines of `readable` until it ends, the last one without line end included. Beyond what is consumed, Node's buffer
 * (64 KiB) and the pipe fill up, and then the writer waits.
 *
 * Must be called in the turn in which the child was spawned: without a `readable` listener, Node throws away the unread
 * output of a child that exits. For one consumer; another that starts later goes on where the first stopped.
 */
export const linesOf = (readable: Readable, options?: { readonly maxLineBytes?: number }): Stream.Stream<Line> => {
  const splitter = new LineSplitter(options);
  const news = Latch.makeUnsafe(false);
  let isOver = false;
  const over = (): void => {
    isOver = true;
    news.openUnsafe();
  };
  readable.on("readable", () => news.openUnsafe());
  readable.once("end", over);
  readable.once("close", over);
  // A pipe that breaks is a pipe that ended: how the process ended is told by its exit.
  readable.on("error", over);

  /** The lines of the next chunk that completes any; none when there is nothing to read now. */
  const readNow = (): Array<Line> => {
    for (let chunk: Uint8Array | null = readable.read(); chunk !== null; chunk = readable.read()) {
      const lines = splitter.push(chunk);
      if (lines.length > 0) return lines;
    }
    return isOver ? splitter.flush() : [];
  };

  const pull = Effect.suspend(function next(): Effect.Effect<readonly [Line, ...Array<Line>], Cause.Done<void>> {
    const lines = readNow();
    if (isReadonlyArrayNonEmpty(lines)) return Effect.succeed(lines);
    if (isOver) return Cause.done();
    news.closeUnsafe();
    return Effect.flatMap(news.await, () => Effect.suspend(next));
  });
  return Stream.fromPull(Effect.succeed(pull));
};
