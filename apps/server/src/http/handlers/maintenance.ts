import { Api } from "@tributary/contracts/api";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Journal, Store, Writer } from "@tributary/store";
import { Clock, Effect } from "effect";
import { isAbsolute } from "node:path";
import { HttpApiBuilder } from "effect/http-api";
import { calls } from "../calls.ts";
import { badRequest, storeProblem } from "../problems.ts";

const day = 24 * 60 * 60 * 1000;

/** Care of the data folder. */
export const maintenanceCalls = calls("maintenance")({
  rebuild: () =>
    Effect.gen(function* () {
      yield* (yield* Store).rebuild;
      return { sequence: (yield* Writer).head() };
    }).pipe(Effect.mapError(storeProblem)),
  backup: Effect.fnUntraced(function* ({ payload: { dir } }) {
    if (!isAbsolute(dir)) return yield* badRequest("Name the folder by an absolute path.", ["payload", "dir"]);
    const store = yield* Store;
    yield* Effect.mapError(store.backup(dir), storeProblem);
    return { dir };
  }),
  check: () =>
    Effect.gen(function* () {
      const store = yield* Store;
      const problems = yield* store.integrityCheck;
      const differences = yield* store.diff;
      return {
        problems,
        differences: differences.map(({ table, only, row }) => ({
          table,
          detail: `${only === "live" ? "too much" : "missing"}: ${JSON.stringify(row).slice(0, 500)}`,
        })),
      };
    }).pipe(Effect.mapError(storeProblem)),
  prune: ({ payload: { olderThanDays, maxBytes } }) =>
    Effect.gen(function* () {
      const journal = yield* Journal;
      const { neededAfter } = yield* ProviderRuntimeIngestion;
      const now = yield* Clock.currentTimeMillis;
      const { records, bytes } = yield* journal.prune({
        keepAfter: neededAfter,
        ...(olderThanDays === undefined ? {} : { olderThan: now - olderThanDays * day }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      });
      return { records, bytes };
    }).pipe(Effect.mapError(storeProblem)),
});

export const maintenance = HttpApiBuilder.group(Api, "maintenance", (handlers) => handlers.handleAll(maintenanceCalls));
