/** Records into the journal, whatever happens: nothing is interpreted before it is durable there. */
import type { Journal, JournalEntry, StoreError } from "@tributary/store";
import { Effect, Schedule } from "effect";

type Stored = ReadonlyArray<JournalEntry>;

/** A store that cannot write now (a full disk) is asked again. */
const again = Schedule.spaced("500 millis");

const isFault = (error: StoreError): boolean => error.reason === "fault";

/** What is left of a record that the journal cannot take: its number, so that the session goes on. */
const emptied = (entry: JournalEntry): JournalEntry => ({ ...entry, frame: "null", events: [] });

const append = (journal: Journal["Service"], entries: Stored): Effect.Effect<Stored, StoreError> =>
  Effect.retry(journal.append(entries), {
    schedule: again,
    while: (error) => !isFault(error) && error.reason !== "closed",
  });

/** One record under the number that the journal expects; empty where it cannot be taken at all. */
const appendOne = (journal: Journal["Service"], entry: JournalEntry): Effect.Effect<Stored, StoreError> =>
  Effect.suspend(() => {
    const { threadId, generation } = entry;
    const numbered = { ...entry, seq: journal.lastSeq(threadId, generation) + 1 };
    return append(journal, [numbered]).pipe(
      Effect.catchIf(isFault, (error) =>
        Effect.andThen(
          Effect.logWarning(`Record ${numbered.seq} of thread ${threadId} is kept empty: ${error.message}`),
          append(journal, [emptied(numbered)]),
        ),
      ),
    );
  });

/**
 * Appends in one go. A batch with a record at fault is appended one by one, so that only that one suffers. Returns what
 * was stored. Fails when the store is shut down.
 */
export const appendAll = (journal: Journal["Service"], entries: Stored): Effect.Effect<Stored, StoreError> =>
  append(journal, entries).pipe(
    Effect.catchIf(isFault, () =>
      Effect.map(
        Effect.forEach(entries, (entry) => appendOne(journal, entry)),
        (stored) => stored.flat(),
      ),
    ),
  );
