import { Effect } from "effect";
import { Reactivity } from "effect/reactivity";
import { Migrator, SqlClient } from "effect/sql";
import type { Connection } from "../sqlite/Connection.ts";
import { fromDatabase } from "../sqlite/SqliteClient.ts";
import { StoreError, storeError } from "../StoreError.ts";

const table = "migrations";

type Migrations = Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>;

/** Brings a database to this build's schema. Refuses one that a newer build has written. */
export const migrate = (
  connection: Connection,
  name: string,
  migrations: Migrations,
): Effect.Effect<void, StoreError> =>
  Effect.gen(function* () {
    const client = yield* fromDatabase(connection.db, { filename: name });
    yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }).pipe(
      Effect.provideService(SqlClient.SqlClient, client),
    );
    const known = Object.keys(migrations).length;
    const found = Number(connection.prepare(`SELECT max(migration_id) AS id FROM ${table}`).get()?.["id"] ?? 0);
    if (found > known) {
      return yield* new StoreError({
        reason: "io",
        message: `${name} was written by a newer Tributary (schema ${found}, this one knows ${known}). Update Tributary.`,
      });
    }
  }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.mapError((cause) => storeError(`Could not prepare ${name}`, cause)),
  );
