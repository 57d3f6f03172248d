/** What the engine needs from others. The server's composition provides each of these from the package that has it. */
import type { Adapter, InstanceConfig, OpenError, RuntimeRecord } from "@tributary/contracts";
import type { InputContent } from "@tributary/domain";
import type { SpawnedProcess, StoreError } from "@tributary/store";
import { Context, type Effect } from "effect";

/** A configured runtime, ready to open sessions. */
export interface Runtime {
  readonly adapter: Adapter;
  readonly instance: InstanceConfig;
}

/** Configured instances and their adapters (the registry of `providers` and the configuration file). */
export class Runtimes extends Context.Service<
  Runtimes,
  {
    /** What is known at once: never starts anything. Decides whether a command is refused before opening. */
    readonly describe: (
      instance: string,
    ) => Effect.Effect<{ readonly known: boolean; readonly refusedOptions: Readonly<Record<string, string>> }>;
    /** The runtime to open a session with, or why there is none. */
    readonly find: (instance: string) => Effect.Effect<Runtime, OpenError>;
  }
>()("tributary/engine/Runtimes") {}

/** Folders of this machine, and those that are registered as projects. */
export class Places extends Context.Service<
  Places,
  {
    /** The real path of a folder, symlinks resolved; undefined where there is none. */
    readonly realFolder: (path: string) => Effect.Effect<string | undefined>;
    /** Real roots of the projects that are not deleted. */
    readonly roots: Effect.Effect<ReadonlyArray<{ readonly projectId: string; readonly root: string }>, StoreError>;
  }
>()("tributary/engine/Places") {}

/** What rows hold and the decider's state does not. Reads see everything that is committed. */
export class Facts extends Context.Service<
  Facts,
  {
    /** What an input says now. */
    readonly input: (threadId: string, inputId: string) => Effect.Effect<InputContent | undefined, StoreError>;
    /** How many threads of a project are not deleted. */
    readonly threadsOf: (projectId: string) => Effect.Effect<number, StoreError>;
  }
>()("tributary/engine/Facts") {}

/** Where records of runtimes go (`ProviderRuntimeIngestion.submit`). */
export class RecordSink extends Context.Service<
  RecordSink,
  {
    /** In the order of the wire. Suspends while there is no room. */
    readonly submit: (threadId: string, generation: number, record: RuntimeRecord) => Effect.Effect<void>;
  }
>()("tributary/engine/RecordSink") {}

/** What has become of the records (ingestion). */
export class Ingested extends Context.Service<
  Ingested,
  {
    /** All that was submitted before is interpreted and committed, text that is held back included. */
    readonly flush: (threadId: string) => Effect.Effect<void>;
    /** At start: interprets the journal past the checkpoint and flushes. Nothing is submitted meanwhile. */
    readonly replay: (threadId: string) => Effect.Effect<void, StoreError>;
  }
>()("tributary/engine/Ingested") {}

/** Ends what an old host, or a session that would not end, left behind (the process table of `providers`). */
export class Survivors extends Context.Service<
  Survivors,
  {
    /** Ends the process and its tree, by identity and marker. False: something of it still runs. */
    readonly end: (process: SpawnedProcess) => Effect.Effect<boolean>;
  }
>()("tributary/engine/Survivors") {}
