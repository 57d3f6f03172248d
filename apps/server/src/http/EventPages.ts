/**
 * Pages of a thread's public events, encoded as frames once and shared by every client that asks for the same: a hundred
 * clients that have caught up wake together and read one page (I11: at most `maxBytes` are kept).
 */
import { EventLog, Signals, Writer } from "@tributary/store";
import type { StoreError } from "@tributary/store";
import { Context, Deferred, Effect, Exit, Layer } from "effect";
import { eventCursor } from "./cursor.ts";
import { limits } from "./limits.ts";
import { toPublicText } from "./public-events.ts";
import { encodeFrames, frameOf } from "./sse.ts";

export interface EncodedPage {
  /** `event` frames; empty when every event of the page is of a type that clients are not shown. */
  readonly bytes: Uint8Array;
  /** The last sequence in it; the same as asked for when there was nothing. */
  readonly next: number;
}

export class EventPages extends Context.Service<
  EventPages,
  {
    /** The thread's events after a sequence, about a quarter of a MiB of them. */
    readonly after: (threadId: string, sequence: number) => Effect.Effect<EncodedPage, StoreError>;
  }
>()("tributary/server/EventPages") {
  static readonly layer = Layer.effect(
    EventPages,
    Effect.gen(function* () {
      const writer = yield* Writer;
      const isPurged = (threadId: string): boolean => writer.state(threadId)?.purged === true;
      const ends = new Ends();
      const { after, forget } = make(yield* EventLog, ends, isPurged);
      yield* (yield* Signals).onCommit((threadIds) => {
        ends.moved(threadIds);
        // What was erased must not live on here.
        if ([...threadIds].some(isPurged)) forget();
      });
      return { after };
    }),
  );
}

const maxBytes = 8 * 1024 * 1024;
const pageBytes = 256 * 1024;

/** Threads whose end is remembered. */
const mostEnds = 1_000;

/** Where threads end: whoever is there already need not look. A commit of a thread makes it unknown again. */
class Ends {
  readonly #at = new Map<string, number>();
  /** Commits so far: an end that was read before one is worth nothing after it. */
  commits = 0;

  moved(threadIds: ReadonlySet<string>): void {
    this.commits += 1;
    for (const threadId of threadIds) this.#at.delete(threadId);
  }

  isAt(threadId: string, sequence: number): boolean {
    return this.#at.get(threadId) === sequence;
  }

  note(threadId: string, sequence: number, commits: number): void {
    if (commits !== this.commits) return;
    if (this.#at.size >= mostEnds) this.#at.clear();
    this.#at.set(threadId, sequence);
  }
}

const nothing = new Uint8Array();

const make = (log: EventLog["Service"], ends: Ends, isPurged: (threadId: string) => boolean) => {
  /** In the order of use, the least recently used first. History does not change until it is purged: a page stays true. */
  const pages = new Map<string, EncodedPage>();
  const reading = new Map<string, Deferred.Deferred<EncodedPage, StoreError>>();
  let held = 0;

  const keep = (key: string, page: EncodedPage): void => {
    pages.set(key, page);
    held += page.bytes.byteLength;
    for (const [oldest, { bytes }] of pages) {
      if (held <= maxBytes) return;
      pages.delete(oldest);
      held -= bytes.byteLength;
    }
  };

  const read = Effect.fnUntraced(function* (threadId: string, sequence: number) {
    const { commits } = ends;
    const events = yield* log.encodedPage({
      after: sequence,
      threadId,
      limit: limits.maxPageEvents,
      maxBytes: pageBytes,
    });
    let text = "";
    for (const event of events) {
      const shown = toPublicText(event, log.epoch);
      if (shown !== undefined) text += frameOf("event", shown, eventCursor(log.epoch, event.sequence));
    }
    if (events.length === 0) ends.note(threadId, sequence, commits);
    return { bytes: encodeFrames(text), next: events.at(-1)?.sequence ?? sequence };
  });

  const after = (threadId: string, sequence: number): Effect.Effect<EncodedPage, StoreError> =>
    Effect.suspend(() => {
      if (ends.isAt(threadId, sequence)) return Effect.succeed({ bytes: nothing, next: sequence });
      const key = `${eventCursor(log.epoch, sequence)} ${threadId}`;
      const kept = pages.get(key);
      if (kept !== undefined) {
        pages.delete(key);
        pages.set(key, kept);
        return Effect.succeed(kept);
      }
      const others = reading.get(key);
      if (others !== undefined) return Deferred.await(others);
      const mine = Deferred.makeUnsafe<EncodedPage, StoreError>();
      reading.set(key, mine);
      return read(threadId, sequence).pipe(
        Effect.onExit((exit) => {
          reading.delete(key);
          if (Exit.isSuccess(exit) && exit.value.next > sequence && !isPurged(threadId)) keep(key, exit.value);
          return Deferred.done(mine, exit);
        }),
        // The reader may be a client that goes away just now; others wait for the same page.
        Effect.uninterruptible,
      );
    });

  const forget = (): void => {
    pages.clear();
    held = 0;
  };
  return { after, forget };
};
