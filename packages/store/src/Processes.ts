import type { ProcessIdentity } from "@tributary/contracts";
import { Context, Effect } from "effect";
import type { Connection } from "./sqlite/Connection.ts";
import { storeError, type StoreError } from "./StoreError.ts";
import type { RunSql } from "./writer/Writer.ts";

/** A process that was started for a session: intended before the spawn, identified after, until it is known to be gone. */
export interface SpawnedProcess {
  readonly threadId: string;
  readonly generation: number;
  readonly marker: string;
  readonly identity?: ProcessIdentity;
}

/** The processes that this data folder's sessions own, so that a new host can end an old host's survivors (section 7). */
export class Processes extends Context.Service<
  Processes,
  {
    readonly intend: (process: Omit<SpawnedProcess, "identity">) => Effect.Effect<void, StoreError>;
    readonly spawned: (marker: string, identity: ProcessIdentity) => Effect.Effect<void, StoreError>;
    readonly ended: (marker: string) => Effect.Effect<void, StoreError>;
    readonly notEnded: Effect.Effect<ReadonlyArray<SpawnedProcess>, StoreError>;
  }
>()("tributary/store/Processes") {}

export const makeProcesses = (connection: Connection, runSql: RunSql): Processes["Service"] => {
  const intend = connection.prepare(
    "INSERT INTO processes (marker, thread_id, generation) VALUES (?, ?, ?) ON CONFLICT (marker) DO NOTHING",
  );
  const spawned = connection.prepare("UPDATE processes SET pid = ?, start_time = ?, boot_id = ? WHERE marker = ?");
  const ended = connection.prepare("DELETE FROM processes WHERE marker = ?");
  // All of them: a row lives as long as its process, so there are as many as open sessions.
  const list = connection.prepare(
    "SELECT marker, thread_id, generation, pid, start_time, boot_id FROM processes ORDER BY marker",
  );
  return {
    intend: ({ marker, threadId, generation }) => runSql(() => void intend.run(marker, threadId, generation)),
    spawned: (marker, { pid, startTime, bootId }) => runSql(() => void spawned.run(pid, startTime, bootId, marker)),
    ended: (marker) => runSql(() => void ended.run(marker)),
    notEnded: Effect.try({
      try: () =>
        list.all().map((row): SpawnedProcess => {
          const process = {
            threadId: String(row["thread_id"]),
            generation: Number(row["generation"]),
            marker: String(row["marker"]),
          };
          if (row["pid"] === null) return process;
          const identity = {
            pid: Number(row["pid"]),
            startTime: String(row["start_time"]),
            bootId: String(row["boot_id"]),
          };
          return { ...process, identity };
        }),
      catch: (cause) => storeError("The processes could not be read", cause),
    }),
  };
};
