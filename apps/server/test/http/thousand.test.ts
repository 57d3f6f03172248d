/** A thousand subscribers, some of whom read nothing (I10, I11). */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { startReaders } from "../support/readers.ts";
import { freshServer, type TestServer } from "../support/server.ts";

const actor = { kind: "system", id: "test" } as const;
const subscribers = 1_000;
const stalled = 50;
const perStep = 100;

/** What a subscriber may cost on average, whatever it does: its fiber and socket, and half a page that it does not take. */
const boundBytes = subscribers * 96 * 1024;

/** Writes notices of about 1 KiB. */
const tell = ({ writer }: TestServer, threadId: string, from: number, kibibytes: number) =>
  Effect.forEach(
    Array.from({ length: kibibytes / perStep }, (_, step) => from + step * perStep),
    (first) =>
      writer.step(threadId, (tx) => {
        for (let n = first; n < first + perStep; n += 1) {
          const message = `${n} `.padEnd(800, "of the same ");
          tx.decide({ type: "notice.record", noticeId: `n${n}`, level: "info", code: "test", message }, { actor });
        }
      }),
    { discard: true },
  ).pipe(Effect.orDie);

const rename = ({ call }: TestServer, threadId: string, title: string) =>
  Effect.promise(() => call(`/threads/${threadId}`, { method: "PATCH", body: { title } }));

const readers = (options: Parameters<typeof startReaders>[0]) =>
  Effect.acquireRelease(
    Effect.sync(() => startReaders(options)),
    (started) => Effect.promise(started.close),
  );

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What the process holds outside of what the collector may take. */
const held = (): number => {
  // Twice, for what finalizers let go of.
  collect();
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

describe("a thousand subscribers", () => {
  it.live(
    "of whom 5 % read nothing: the others have everything, memory stays within its bound, and who reads again has it too",
    () =>
      Effect.gen(function* () {
        const server = yield* freshServer;
        const { url, token, call } = server;
        for (const threadId of ["long", "busy"])
          yield* Effect.promise(() => call("/threads", { body: { threadId, cwd: server.work, instance: "demo" } }));
        // More than the sockets of those who do not read take up.
        yield* tell(server, "long", 0, 10_000);
        yield* rename(server, "long", "the end of the long one");
        const { cursor } = (yield* Effect.promise(() => call("/threads/busy"))).body;
        const before = held();

        const asleep = yield* readers({
          url,
          token,
          path: "/threads/long/live",
          clients: 0,
          stalled,
          mark: "the end of the long one",
        });
        const awake = yield* readers({
          url,
          token,
          path: `/threads/busy/live?after=${cursor}`,
          clients: subscribers - stalled,
          mark: "the end of the busy one",
        });
        yield* Effect.promise(() => awake.said("synced"));
        yield* tell(server, "busy", 0, 200);
        yield* rename(server, "busy", "the end of the busy one");
        yield* Effect.promise(() => awake.said("marked"));

        const grown = held() - before;
        assert.isBelow(grown, boundBytes, `${(grown / subscribers / 1024).toFixed(0)} KiB a subscriber`);
        asleep.resume();
        yield* Effect.promise(() => asleep.said("resumed"));
      }).pipe(Effect.scoped),
  );
});
