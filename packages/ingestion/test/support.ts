/** The service over the real store: push, drain, assert. */
import type { InternalCommand, RuntimeEvent, StoredEvent } from "@tributary/contracts";
import type { Domain, StoreError, StoreServices } from "@tributary/store";
import { EventLog, Journal, Projection, Refusals, Store, Writer } from "@tributary/store";
import { Context, Effect, Layer } from "effect";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IngestionOptions, ProviderRuntimeIngestion } from "../src/index.ts";

/** What is in the log is asked of the log: no rows are needed. */
const projection = Layer.succeed(Projection, { tables: [], version: 1, project: () => [] });

export const memoryStore = (options: { readonly domain?: Domain } = {}): Layer.Layer<StoreServices, StoreError> =>
  Store.layerMemory(options).pipe(Layer.provide(projection));

export const folderStore = (
  dir: string,
  synchronous: "full" | "normal" = "full",
): Layer.Layer<StoreServices, StoreError> => Store.layer({ dir, synchronous }).pipe(Layer.provide(projection));

/** A store of which one service is another one, made of the real one. */
export const withService = <I, S>(
  tag: Context.Key<I, S>,
  change: (real: S) => S,
  store: Layer.Layer<StoreServices, StoreError>,
): Layer.Layer<StoreServices, StoreError> =>
  Layer.effectContext(
    // What is added is one of the services that the store has.
    Effect.map(Effect.context<StoreServices>(), (services) =>
      Context.add(
        services as Context.Context<StoreServices | I>,
        tag,
        change(Context.get(services as Context.Context<I>, tag)),
      ),
    ) as Effect.Effect<Context.Context<StoreServices>, never, StoreServices>,
  ).pipe(Layer.provide(store));

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-ingestion-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
);

/** The service over a store in memory. */
export const layer = (options: IngestionOptions = {}, store = memoryStore()) =>
  ProviderRuntimeIngestion.layer(options).pipe(Layer.provideMerge(store));

const capabilities = {
  steer: false,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: true },
  refusedOptions: {},
} as const;

const actor = { kind: "client", id: "test" } as const;

/** Decides for the engine. */
export const decide = Effect.fnUntraced(function* (threadId: string, ...commands: ReadonlyArray<InternalCommand>) {
  const writer = yield* Writer;
  yield* writer.step(threadId, (tx) => {
    for (const command of commands) {
      const decision = tx.decide(command, { actor });
      if (!decision.ok) throw new Error(`${command.type}: ${decision.reason}`);
    }
  });
});

export const openSession = (threadId: string, generation = 1) =>
  decide(
    threadId,
    { type: "session.open", generation },
    { type: "session.opened", generation, nativeSessionId: `n${generation}`, resumed: false, capabilities },
  );

/** A thread with a session. */
export const openThread = Effect.fnUntraced(function* (
  threadId = "T",
  textDelivery: "streaming" | "buffered" = "streaming",
) {
  const writer = yield* Writer;
  const context = {
    now: "2026-01-01T00:00:00.000Z",
    actor,
    place: { projectId: "P", cwd: "/p" },
    instance: { known: true, refusedOptions: {} },
  };
  yield* writer.dispatch(
    { type: "thread.create", commandId: `create ${threadId}`, threadId, cwd: "/p", instance: "stub", textDelivery },
    context,
  );
  yield* openSession(threadId);
});

export const dispatch = Effect.fnUntraced(function* (command: Parameters<Writer["Service"]["dispatch"]>[0]) {
  const writer = yield* Writer;
  return yield* writer.dispatch(command, { now: "2026-01-01T00:00:00.000Z", actor });
});

/** A record with these events. */
export const record = (...events: ReadonlyArray<unknown>) => ({
  kind: "frame" as const,
  native: { kind: "test", frame: { test: true } },
  events,
});

/** Submits each event as a record of its own. */
export const push = Effect.fnUntraced(function* (...events: ReadonlyArray<unknown>) {
  const ingestion = yield* ProviderRuntimeIngestion;
  for (const event of events) yield* ingestion.submit("T", 1, record(event));
});

export const pushTo = Effect.fnUntraced(function* (threadId: string, ...events: ReadonlyArray<RuntimeEvent>) {
  const ingestion = yield* ProviderRuntimeIngestion;
  for (const event of events) yield* ingestion.submit(threadId, 1, record(event));
});

/** All events of a thread. */
export const logOf = Effect.fnUntraced(function* (threadId = "T") {
  const log = yield* EventLog;
  const events: Array<StoredEvent> = [];
  for (let after = 0; ;) {
    const page = yield* log.page({ threadId, after, limit: 1_000 });
    const last = page.at(-1);
    if (last === undefined) return events;
    // The tests' own events are of known types.
    events.push(...(page as ReadonlyArray<StoredEvent>));
    after = last.sequence;
  }
});

export const typesOf = Effect.fnUntraced(function* (threadId = "T") {
  const events = yield* logOf(threadId);
  return events.slice(3).map(({ type }) => type);
});

/** Messages as they stand, by id. */
export const messagesOf = Effect.fnUntraced(function* (threadId = "T") {
  const texts: Record<string, string> = {};
  for (const event of yield* logOf(threadId)) {
    if (event.type === "message.appended")
      texts[event.payload.messageId] = (texts[event.payload.messageId] ?? "") + event.payload.text;
    if (event.type === "message.replaced") texts[event.payload.messageId] = event.payload.text;
    if (event.type === "message.retracted") delete texts[event.payload.messageId];
  }
  return texts;
});

export const refusalsOf = Effect.fnUntraced(function* (threadId = "T") {
  const refusals = yield* Refusals;
  return yield* refusals.page({ after: 0, threadId });
});

/** Events in the journal of a thread's first session. */
export const journalledEvents = Effect.fnUntraced(function* (threadId = "T", generation = 1) {
  const journal = yield* Journal;
  return journal
    .read({ threadId, generation, after: 0, limit: 1_000_000 })
    .reduce((sum, { events }) => sum + events.length, 0);
});

/** Sends events and waits until they are committed, streamed text flushed. */
export const pushAndDrain = Effect.fnUntraced(function* (...events: ReadonlyArray<unknown>) {
  const ingestion = yield* ProviderRuntimeIngestion;
  yield* push(...events);
  yield* ingestion.drain("T");
});

/** Sends events and waits until they are interpreted. */
export const pushAndInterpret = Effect.fnUntraced(function* (...events: ReadonlyArray<unknown>) {
  const ingestion = yield* ProviderRuntimeIngestion;
  yield* push(...events);
  yield* ingestion.interpreted("T");
});
