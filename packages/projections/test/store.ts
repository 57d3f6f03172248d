/** A real store under the projector, into which tests put events as they are. */
import type { StoredEvent } from "@tributary/contracts";
import {
  Projection,
  RowReader,
  Store,
  Writer,
  type Cell,
  type Difference,
  type Domain,
  type StoreError,
  type StoreServices,
} from "@tributary/store";
import { Effect, Layer, ManagedRuntime } from "effect";
import { projector } from "../src/projector.ts";
import type { Reader } from "../src/queries/reader.ts";
import { instant } from "./history.ts";

export type Rows = ReadonlyArray<Readonly<Record<string, Cell>>>;

export interface Harness {
  readonly reader: Reader;
  /** Appends the events, whose sequences follow the log's, at most `size` in one group of the writer. */
  readonly apply: (events: ReadonlyArray<StoredEvent>, size?: number) => Promise<void>;
  /** Every row of every table, for comparing whole projections. */
  readonly dump: () => Readonly<Record<string, Rows>>;
  /** Where a rebuild would come out differently. */
  readonly diff: () => Promise<ReadonlyArray<Difference>>;
  /** The SQL of every query that `reader` was asked, tables unnamed. */
  readonly queries: ReadonlySet<string>;
  /** Closes the store; otherwise the end of the test does. */
  readonly close: () => Promise<void>;
}

/** What the fake decider takes for a command: it accepts what it is given. */
interface Given {
  readonly events: ReadonlyArray<StoredEvent>;
}

type State = ReturnType<Domain["evolveThread"]>;

/** Decides nothing: commands are events, a state only counts them. The projector never sees a state. */
const domain: Domain = {
  decideInternal: (_, command) => ({ ok: true, events: (command as unknown as Given).events }),
  evolveThread: (state, _, threadId) => ({ ...state, threadId, version: (state?.version ?? 0) + 1 }) as State,
  decideThread: () => ({ ok: true, events: [] }),
  decideProject: () => ({ ok: true, events: [] }),
  evolveProject: (_, __, projectId) => ({ projectId, root: "", title: "", deleted: false, version: 1 }),
  hasOpenWork: () => false,
  closedBy: () => undefined,
};

/** The store's clock is the host's; times by sequence make rows comparable. */
const timed = {
  ...projector,
  project: (event: StoredEvent) => projector.project({ ...event, occurredAt: instant(event.sequence) }),
};

const projection = Layer.succeed(Projection, timed);

export const storeLayer = (dir?: string): Layer.Layer<StoreServices, StoreError> =>
  (dir === undefined ? Store.layerMemory({ domain }) : Store.layer({ dir, domain, synchronous: "normal" })).pipe(
    Layer.provide(projection),
  );

/** In memory unless a data folder is named. */
export const openHarness = async (dir?: string): Promise<Harness> => {
  const runtime = ManagedRuntime.make(storeLayer(dir));
  const { writer, store, rows } = await runtime.runPromise(
    Effect.all({ writer: Writer, store: Store, rows: RowReader }),
  );
  const queries = new Set<string>();
  const reader: Reader = {
    all: (sql, ...parameters) => {
      queries.add(sql);
      return rows.all(sql, ...parameters);
    },
    get: (sql, ...parameters) => {
      queries.add(sql);
      return rows.get(sql, ...parameters);
    },
    snapshot: rows.snapshot,
  };
  const append = (events: ReadonlyArray<StoredEvent>) =>
    Effect.forEach(
      runsOf(events),
      ([streamId, run]) =>
        writer.step(streamId, (tx) =>
          tx.decide({ events: run } as unknown as Parameters<typeof tx.decide>[0], {
            actor: { kind: "system", id: "test" },
          }),
        ),
      { concurrency: "unbounded", discard: true },
    );
  return {
    reader,
    queries,
    apply: async (events, size = 256) => {
      for (let from = 0; from < events.length; from += size)
        await runtime.runPromise(append(events.slice(from, from + size)));
      const last = events.at(-1)?.sequence;
      if (last !== undefined && writer.head() !== last) throw new Error(`log at ${writer.head()}, events at ${last}`);
    },
    dump: () =>
      Object.fromEntries(
        projector.tables.map(({ name, key }) => [name, rows.all(`SELECT * FROM {${name}} ORDER BY ${key.join(", ")}`)]),
      ),
    diff: () => runtime.runPromise(store.diff),
    close: () => runtime.dispose(),
  };
};

/** Events in runs of one stream: each is one step of the writer. */
const runsOf = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<readonly [string, ReadonlyArray<StoredEvent>]> => {
  const runs: Array<[string, Array<StoredEvent>]> = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last?.[0] === event.streamId) last[1].push(event);
    else runs.push([event.streamId, [event]]);
  }
  return runs;
};
