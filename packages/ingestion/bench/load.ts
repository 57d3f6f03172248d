/** What the benches have in common: the service over a store on a disk, threads with a running turn. */
import { noCapabilities } from "@tributary/contracts";
import type { InternalCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import { Projection, Store, Writer, type Projector, type StoreServices, type Synchronous } from "@tributary/store";
import { Effect, Layer } from "effect";
import { ProviderRuntimeIngestion } from "../src/index.ts";

/** What a run did; the benches' harness has the same shape. */
export interface Timing {
  readonly units: number;
  readonly seconds: number;
}

export interface IngestionLoad {
  /** An empty folder, on a disk: memory has nothing to sync. */
  readonly dir: string;
  readonly projector: Projector;
  readonly synchronous: Synchronous;
}

const actor = { kind: "client", id: "bench" } as const;

const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor,
  place: { projectId: "project", cwd: "/project" },
  instance: { known: true, refusedOptions: {} },
};

const begin: ReadonlyArray<InternalCommand> = [
  { type: "session.open", generation: 1 },
  { type: "session.opened", generation: 1, nativeSessionId: "native", resumed: false, capabilities: noCapabilities },
  { type: "turn.start", turnId: "turn", generation: 1, origin: "runtime" },
];

/** A thread whose turn runs. */
export const openThread = Effect.fnUntraced(function* (threadId: string) {
  const writer = yield* Writer;
  const command = { type: "thread.create", commandId: threadId, threadId, cwd: "/project", instance: "stub" } as const;
  yield* writer.dispatch(command, context);
  yield* writer.step(threadId, (tx) => {
    for (const each of begin) tx.decide(each, { actor });
  });
});

export const runIn = <A>(
  load: IngestionLoad,
  body: Effect.Effect<A, unknown, StoreServices | ProviderRuntimeIngestion>,
): Promise<A> => {
  const store = Store.layer({ dir: load.dir, synchronous: load.synchronous }).pipe(
    Layer.provide(Layer.succeed(Projection, load.projector)),
  );
  const layer = ProviderRuntimeIngestion.layer().pipe(Layer.provideMerge(store));
  return Effect.runPromise(body.pipe(Effect.provide(layer)));
};

/** A frame as a runtime sends them, with its canonical event. */
export const deltaRecord = (itemId: string, text: string) => ({
  kind: "frame" as const,
  native: { kind: "item/delta", frame: { method: "item/delta", params: { threadId: "native", itemId, delta: text } } },
  events: [
    { type: "content.delta", turnId: "turn", itemId, agentPath: [], payload: { stream: "assistant_text", text } },
  ],
});

export const endRecord = (itemId: string) => ({
  kind: "frame" as const,
  native: { kind: "item/completed", frame: { method: "item/completed", params: { threadId: "native", itemId } } },
  events: [
    { type: "item.completed", turnId: "turn", itemId, agentPath: [], payload: { itemType: "assistant_message" } },
  ],
});
