/** The record of who was let in, who was not, and who decided it. */
import type { AuditEntry, AuditType } from "@tributary/contracts/api";
import { Clock, Context, Effect, Layer, Schema } from "effect";
import { makeAppender, readAudit } from "./audit-file.ts";

/** The record can't be read. Correct the permissions of `audit.ndjson` in the data folder. */
export class AuditError extends Schema.TaggedError<AuditError>()("AuditError", { message: Schema.String }) {}

export type AuditFacts = Partial<Pick<AuditEntry, "by" | "address" | "about" | "detail">>;

export class Audit extends Context.Service<
  Audit,
  {
    readonly note: (type: AuditType, facts?: AuditFacts) => Effect.Effect<void>;
    /** The same for what strangers can cause at will: one entry a minute for each `key`. */
    readonly noteSometimes: (key: string, type: AuditType, facts?: AuditFacts) => Effect.Effect<void>;
    /** The newest first; before an entry's number, where one is named. */
    readonly page: (query: {
      readonly before?: number;
      readonly limit: number;
    }) => Effect.Effect<ReadonlyArray<AuditEntry>, AuditError>;
  }
>()("tributary/server/Audit") {
  static readonly layer = (dir: string): Layer.Layer<Audit, AuditError> => Layer.effect(Audit, make(dir));
}

const minute = 60 * 1000;
/** How many keys are told apart within a minute. */
const mostKeys = 1000;

const asAuditError = (dir: string) => (cause: unknown) =>
  new AuditError({
    message: `The audit record in ${dir} can't be used (${cause instanceof Error ? cause.message : String(cause)}): correct the permissions of audit.ndjson.`,
  });

const make = Effect.fnUntraced(function* (dir: string) {
  const clock = yield* Clock.Clock;
  const { append, last } = yield* Effect.try({
    try: () => ({ append: makeAppender(dir), last: readAudit(dir).at(-1)?.n ?? 0 }),
    catch: asAuditError(dir),
  });
  let n = last;
  let since = 0;
  let keys = new Set<string>();

  const note = (type: AuditType, facts: AuditFacts = {}): Effect.Effect<void> =>
    Effect.suspend(() => {
      n += 1;
      const entry: AuditEntry = { n, at: new Date(clock.currentTimeMillisUnsafe()).toISOString(), type, ...facts };
      try {
        append(entry);
        return Effect.void;
      } catch (cause) {
        // What is recorded has happened: a full disk must not undo it.
        return Effect.logWarning(`“${type}” could not be recorded`, cause);
      }
    });

  const isNew = (key: string): boolean => {
    const now = clock.currentTimeMillisUnsafe();
    if (now - since >= minute) {
      since = now;
      keys = new Set();
    }
    if (keys.has(key) || keys.size >= mostKeys) return false;
    keys.add(key);
    return true;
  };

  return Audit.of({
    note,
    noteSometimes: (key, type, facts) => Effect.suspend(() => (isNew(key) ? note(type, facts) : Effect.void)),
    page: ({ before = Number.POSITIVE_INFINITY, limit }) =>
      Effect.try({
        try: () =>
          readAudit(dir)
            .filter((entry) => entry.n < before)
            .slice(-limit)
            .toReversed(),
        catch: asAuditError(dir),
      }),
  });
});
