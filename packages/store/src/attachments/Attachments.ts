/**
 * What people attach to inputs. A content is a file by its hash; what an id stands for is a row. The file comes first: a
 * crash in between leaves a file that no row names, which the sweep removes. A row whose file is gone reads as expired.
 */
import { randomBytes } from "node:crypto";
import { Clock, Context, Effect, Schema, Semaphore, Stream, type Scope } from "effect";
import type { Signals } from "../events/Signals.ts";
import type { Connection } from "../sqlite/Connection.ts";
import { storeError, type StoreError } from "../StoreError.ts";
import type { RunSql } from "../writer/Writer.ts";
import type { Draft, Files } from "./files.ts";
import {
  allAttachments,
  contentBytes,
  deleteUnused,
  findAttachment,
  insertAttachment,
  isAnyUnused,
  isContentUsed,
  unusedBefore,
  type StoredAttachment,
} from "./rows.ts";

/**
 * An upload went beyond a limit; nothing of it is kept. `too_large`: send less. `full`: attachments take all the room they
 * may; delete threads or unused attachments.
 */
export class AttachmentRefused extends Schema.TaggedError<AttachmentRefused>()("AttachmentRefused", {
  reason: Schema.Literals(["too_large", "full"]),
  /** In bytes; the limit that was reached. */
  limit: Schema.Number,
}) {}

export interface NewAttachment {
  /** As it was found to be; nobody looks at it again. */
  readonly mediaType: string;
  readonly name: string | undefined;
  readonly owner: string;
  /** In bytes: of this one, and of all together. */
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

export class Attachments extends Context.Service<
  Attachments,
  {
    /** Takes a content as it comes, never the whole in memory. Durable when it resolves; a stream that breaks leaves nothing. */
    readonly put: <E, R>(
      content: Stream.Stream<Uint8Array, E, R>,
      what: NewAttachment,
    ) => Effect.Effect<StoredAttachment, E | AttachmentRefused | StoreError, R>;
    /** Synchronous read. */
    readonly find: (id: string) => StoredAttachment | undefined;
    /**
     * The file of an attachment, for programs that take a path: absolute, not to be written to. Undefined where there is
     * no such attachment or its content is gone.
     */
    readonly path: (id: string) => string | undefined;
    /** What is in a file that `path` named. */
    readonly content: (path: string) => Stream.Stream<Uint8Array, StoreError>;
    /** Deletes one that no thread uses. */
    readonly remove: (id: string) => Effect.Effect<"removed" | "in_use" | "unknown", StoreError>;
    /** Removes what is unused for a day, and what crashes left. Runs by itself at start, hourly, and after a purge. */
    readonly sweep: Effect.Effect<void, StoreError>;
    /** What is missing or damaged, in words. Reads every content. */
    readonly check: Effect.Effect<ReadonlyArray<string>, StoreError>;
    /** Runs something while no content goes, then copies all of them into a folder. */
    readonly backup: (dir: string, first: Effect.Effect<void, StoreError>) => Effect.Effect<void, StoreError>;
  }
>()("tributary/store/Attachments") {}

/** How long what nobody uses is kept. */
export const unusedMilliseconds = 24 * 60 * 60 * 1_000;

/** Rows deleted in one transaction. */
const slice = 200;

/** Touched when a thread was purged and its attachments may go. */
export const attachmentsKey = "attachments";

export interface AttachmentsOptions {
  readonly runSql: RunSql;
  readonly read: Connection;
  readonly files: Files;
  readonly signals: Signals["Service"];
}

const trying = <A>(doing: string, run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => storeError(doing, cause) });

export const makeAttachments = ({
  runSql,
  read,
  files,
  signals,
}: AttachmentsOptions): Effect.Effect<Attachments["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    // Naming a content and removing one take turns: a row never loses the file that it was made for.
    const oneAtATime = Semaphore.makeUnsafe(1);
    /** Bytes of all contents, once they were counted; and of those that are on their way. */
    let stored: number | undefined;
    let incoming = 0;
    /** Backups under way: rows may go meanwhile, files stay. */
    let backups = 0;
    /** Whether the sweep has a time to run at: it has none while everything is used. */
    let isTimed = false;

    const total = () => {
      stored ??= contentBytes(read);
      return stored + incoming;
    };

    /** Removes contents that no row names any more. */
    const removeUnnamed = (hashes: ReadonlyArray<string>): Effect.Effect<void, StoreError> =>
      oneAtATime.withPermit(
        Effect.forEach(
          hashes,
          (hash) =>
            Effect.suspend(() =>
              backups > 0 || isContentUsed(read, hash)
                ? Effect.void
                : trying("An attachment could not be removed", () => files.remove(hash)),
            ),
          { discard: true },
        ),
      );

    const remove = Effect.fnUntraced(function* (id: string) {
      if (findAttachment(read, id) === undefined) return "unknown" as const;
      const hash = yield* runSql((connection) => deleteUnused(connection, id));
      if (hash === undefined)
        return findAttachment(read, id) === undefined ? ("unknown" as const) : ("in_use" as const);
      stored = undefined;
      yield* removeUnnamed([hash]);
      return "removed" as const;
    });

    const sweepRows = Effect.gen(function* () {
      const before = (yield* Clock.currentTimeMillis) - unusedMilliseconds;
      for (;;) {
        const due = unusedBefore(read, before, slice);
        if (due.length === 0) return;
        const hashes = yield* runSql((connection) => due.map((id) => deleteUnused(connection, id)));
        stored = undefined;
        yield* removeUnnamed(hashes.filter((hash) => hash !== undefined));
      }
    });

    const sweep = Effect.gen(function* () {
      yield* sweepRows;
      const contents = yield* trying("The folder of attachments could not be tidied up", files.tidy);
      yield* removeUnnamed(contents.filter((hash) => !isContentUsed(read, hash)));
    });

    const put: Attachments["Service"]["put"] = (content, what) => {
      let taken = 0;
      const take = (draft: Draft, bytes: Uint8Array) =>
        Effect.suspend((): Effect.Effect<void, AttachmentRefused | StoreError> => {
          if (taken + bytes.length > what.maxBytes)
            return Effect.fail(new AttachmentRefused({ reason: "too_large", limit: what.maxBytes }));
          if (total() + bytes.length > what.maxTotalBytes)
            return Effect.fail(new AttachmentRefused({ reason: "full", limit: what.maxTotalBytes }));
          taken += bytes.length;
          incoming += bytes.length;
          return trying("An attachment could not be written", () => draft.write(bytes));
        });
      const name = (draft: Draft) =>
        Effect.gen(function* () {
          const { hash, size } = yield* trying("An attachment could not be written", draft.finish);
          const { mediaType, name: label, owner } = what;
          const id = `att_${randomBytes(16).toString("base64url")}`;
          const createdAt = yield* Clock.currentTimeMillis;
          const attachment: StoredAttachment = { id, hash, mediaType, size, name: label, createdAt, owner };
          yield* oneAtATime.withPermit(
            Effect.gen(function* () {
              // Over one of the same name too: it may be damaged, and who reads it goes on reading it.
              yield* trying("An attachment could not be kept", draft.keep);
              const isNew = !isContentUsed(read, hash);
              yield* runSql((connection) => insertAttachment(connection, attachment));
              if (isNew && stored !== undefined) stored += size;
              if (!isTimed) signals.touch([attachmentsKey]);
            }),
          );
          return attachment;
        });
      return Effect.acquireUseRelease(
        trying("An attachment could not be written", files.draft),
        (draft) =>
          Effect.andThen(
            Stream.runForEach(content, (bytes) => take(draft, bytes)),
            // From here on it is ours to finish, whatever becomes of the caller.
            Effect.uninterruptible(name(draft)),
          ),
        (draft) =>
          Effect.andThen(
            Effect.sync(() => {
              incoming -= taken;
            }),
            Effect.promise(draft.drop),
          ),
      );
    };

    const whole = (id: string) => {
      const found = findAttachment(read, id);
      return found === undefined ? undefined : files.path(found.hash, found.size);
    };

    const attachments: Attachments["Service"] = {
      put,
      find: (id) => findAttachment(read, id),
      path: whole,
      content: (path) =>
        Stream.suspend(() =>
          Stream.fromAsyncIterable(files.read(path), (cause) => storeError("An attachment could not be read", cause)),
        ),
      remove,
      sweep,
      check: Effect.gen(function* () {
        const found: Array<string> = [];
        for (const { id, hash, size, name } of allAttachments(read)) {
          const fault = yield* trying("Attachments could not be checked", () => files.fault(hash, size));
          if (fault !== undefined)
            found.push(`attachments: ${id}${name === undefined ? "" : ` (${name})`} is ${fault}: attach it again`);
        }
        return found;
      }),
      backup: (dir, first) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            backups += 1;
          }),
          () =>
            Effect.andThen(
              first,
              trying("The attachments could not be copied", () => files.copyTo(dir)),
            ),
          () =>
            Effect.sync(() => {
              backups -= 1;
              signals.touch([attachmentsKey]);
            }),
        ),
    };

    const signal = yield* signals.subscribe([attachmentsKey]);
    const rest = Effect.suspend(() => {
      isTimed = isAnyUnused(read);
      return isTimed ? Effect.race(signal.wait, Effect.sleep("1 hour")) : signal.wait;
    });
    yield* sweep.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Unused attachments could not be removed", cause)),
      Effect.andThen(rest),
      Effect.forever,
      Effect.forkScoped,
    );
    return attachments;
  });
