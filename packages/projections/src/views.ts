/** The reads of the application, over projection rows. */
import type {
  InputView,
  ProjectView,
  RequestRow,
  RequestState,
  ThreadPage,
  ThreadShell,
  TimelineRow,
  TurnView,
} from "@tributary/contracts";
import { RowReader, StoreError } from "@tributary/store";
import { Context, Effect, Layer } from "effect";
import { compact } from "./cells.ts";
import { CursorInvalid, decodeCursor, encodeCursor } from "./cursor.ts";
import { inputs } from "./queries/inputs.ts";
import { itemOutput, message, reasoning, type ItemOutput } from "./queries/items.ts";
import { project, projects } from "./queries/projects.ts";
import type { Reader } from "./queries/reader.ts";
import { requests, requestsById } from "./queries/requests.ts";
import { sessions, type SessionRecord } from "./queries/sessions.ts";
import { noExtras, shell, shells, type ShellExtras } from "./queries/shells.ts";
import { threadPage } from "./queries/thread-page.ts";
import { turn, turnDiff, type TurnDiff } from "./queries/turns.ts";

/** A page of a list, and the state that it stands on. */
export interface ShellPage {
  /** The most recently changed first. A thread that changes meanwhile moves to the front: follow the live stream for it. */
  readonly shells: ReadonlyArray<ThreadShell>;
  readonly sequence: number;
  /** Cursor for the page of threads that changed before these; absent at the end. */
  readonly before?: string;
}

export interface RequestPage {
  /** In the order in which they were asked. A page may be short, also empty, and still have an `after`. */
  readonly requests: ReadonlyArray<RequestRow>;
  readonly sequence: number;
  readonly after?: string;
}

const largestLimit = 500;
const clamp = (limit: number | undefined, standard: number): number =>
  Math.min(largestLimit, Math.max(1, Math.trunc(limit ?? standard)));

/**
 * Every query reads one state of the store. It fails with `CursorInvalid` where it takes a cursor, and with `StoreError`
 * when the store cannot be read. What is not there, or is deleted, is `undefined`.
 */
export class Views extends Context.Service<
  Views,
  {
    /** `archived` absent: both. `limit` 1 to 500, 50 unless said. */
    readonly shells: (query: {
      readonly projectId?: string;
      readonly archived?: boolean;
      readonly before?: string;
      readonly limit?: number;
    }) => Effect.Effect<ShellPage, CursorInvalid | StoreError>;
    readonly shell: (threadId: string) => Effect.Effect<ThreadShell | undefined, StoreError>;
    /**
     * The newest whole turns, or those before or after a cursor (`before` counts if both are given). At most `maxBytes`
     * of rows as JSON (128 KiB unless said), `maxTurns` (20) and 400 rows; a larger turn is paged inside, a larger text
     * is cut (`length` is the whole), and of a larger activity fields are left out and named in its `cut`.
     */
    readonly threadPage: (query: {
      readonly threadId: string;
      readonly before?: string;
      readonly after?: string;
      readonly maxBytes?: number;
      readonly maxTurns?: number;
    }) => Effect.Effect<ThreadPage | undefined, CursorInvalid | StoreError>;
    readonly requests: (query: {
      readonly state: RequestState;
      readonly threadId?: string;
      readonly after?: string;
      readonly limit?: number;
    }) => Effect.Effect<RequestPage, CursorInvalid | StoreError>;
    /**
     * Requests of one id, which is unique within a thread only: the newest that wait for an answer, or, where none does, of
     * the others; at most 10.
     */
    readonly requestsById: (query: {
      readonly requestId: string;
      readonly threadId?: string;
    }) => Effect.Effect<ReadonlyArray<RequestRow>, StoreError>;
    /** Inputs that are not terminal, in the order of submission. */
    readonly inputs: (threadId: string) => Effect.Effect<ReadonlyArray<InputView>, StoreError>;
    readonly turn: (threadId: string, turnId: string) => Effect.Effect<TurnView | undefined, StoreError>;
    readonly turnDiff: (threadId: string, turnId: string) => Effect.Effect<TurnDiff | undefined, StoreError>;
    /** By the activity's row id, or by the runtime's item id. */
    readonly itemOutput: (threadId: string, itemId: string) => Effect.Effect<ItemOutput | undefined, StoreError>;
    /** Whole text; an assistant's message by its id, a person's by its input id. */
    readonly message: (
      threadId: string,
      messageId: string,
    ) => Effect.Effect<Extract<TimelineRow, { readonly kind: "message" }> | undefined, StoreError>;
    readonly reasoning: (
      threadId: string,
      reasoningId: string,
    ) => Effect.Effect<Extract<TimelineRow, { readonly kind: "reasoning" }> | undefined, StoreError>;
    /** The newest generations first. */
    readonly sessions: (threadId: string, limit?: number) => Effect.Effect<ReadonlyArray<SessionRecord>, StoreError>;
    readonly projects: Effect.Effect<ReadonlyArray<ProjectView>, StoreError>;
    readonly project: (projectId: string) => Effect.Effect<ProjectView | undefined, StoreError>;
  }
>()("tributary/projections/Views") {
  static readonly make = (reader: Reader, extras: ShellExtras = noExtras): Views["Service"] => make(reader, extras);

  /** With what shells show beside the log: read markers, and which runtime an instance is of. */
  static readonly layerWith = (extras: ShellExtras): Layer.Layer<Views, never, RowReader> =>
    Layer.effect(
      Views,
      Effect.map(RowReader, (reader) => make(reader, extras)),
    );

  static readonly layer: Layer.Layer<Views, never, RowReader> = Views.layerWith(noExtras);
}

const make = (reader: Reader, extras: ShellExtras): Views["Service"] => ({
  shells: ({ before, limit, ...query }) =>
    withCursor(before, (position) =>
      reader.snapshot((sequence) => {
        const list = shells(reader, compact({ ...query, before: position, limit: clamp(limit, 50) }), extras);
        return compact({ shells: list.shells, sequence, before: cursor(list.before) });
      }),
    ),
  requestsById: (query) => read(() => reader.snapshot(() => requestsById(reader, { ...query, limit: 10 }))),
  shell: (threadId) => read(() => reader.snapshot(() => shell(reader, threadId, extras))),
  threadPage: ({ before, after, ...query }) =>
    withCursor(before ?? after, (position) => {
      const from = before === undefined ? { after: position ?? 0 } : { before: position ?? 0 };
      return threadPage(reader, position === undefined ? query : { ...query, from }, extras);
    }),
  requests: ({ after, limit, ...query }) =>
    withCursor(after, (position) =>
      reader.snapshot((sequence) => {
        const list = requests(reader, compact({ ...query, after: position, limit: clamp(limit, 100) }));
        return compact({ requests: list.requests, sequence, after: cursor(list.after) });
      }),
    ),
  inputs: (threadId) => read(() => inputs(reader, threadId)),
  turn: (threadId, turnId) => read(() => turn(reader, threadId, turnId)),
  turnDiff: (threadId, turnId) => read(() => turnDiff(reader, threadId, turnId)),
  itemOutput: (threadId, itemId) => read(() => reader.snapshot(() => itemOutput(reader, threadId, itemId))),
  message: (threadId, messageId) => read(() => reader.snapshot(() => message(reader, threadId, messageId))),
  reasoning: (threadId, id) => read(() => reader.snapshot(() => reasoning(reader, threadId, id))),
  sessions: (threadId, limit) => read(() => sessions(reader, threadId, clamp(limit, 20))),
  projects: read(() => projects(reader)),
  project: (projectId) => read(() => project(reader, projectId)),
});

const cursor = (position: number | undefined): string | undefined =>
  position === undefined ? undefined : encodeCursor(position);

const read = <A>(query: () => A): Effect.Effect<A, StoreError> =>
  Effect.try({
    try: query,
    catch: (cause) =>
      cause instanceof StoreError
        ? cause
        : new StoreError({
            reason: "io",
            message: "The projections could not be read. Run `tributary doctor`.",
            cause,
          }),
  });

const withCursor = <A>(
  text: string | undefined,
  query: (position: number | undefined) => A,
): Effect.Effect<A, CursorInvalid | StoreError> => {
  const position = text === undefined ? undefined : decodeCursor(text);
  return position instanceof CursorInvalid ? Effect.fail(position) : read(() => query(position));
};
