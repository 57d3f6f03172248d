/**
 * 4.12: mailboxes are bounded by bytes. A store that is slow makes the adapter's reader wait, then Node's buffer and the
 * pipe fill, and then a real agent waits in its `write`. Stopping it waits on no reader.
 */
import { noCapabilities } from "@tributary/contracts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { isOversize, spawnAgent } from "@tributary/providers";
import { Journal, Projection, Store, Writer } from "@tributary/store";
import { Context, Effect, Fiber, Latch, Layer, Stream } from "effect";
import { temporaryFolders } from "../support/server.ts";

const lines = 60_000;
const lineBytes = 100;
const threadBytes = 128 * 1024;
/** Budget, Node's buffer, the pipe, and some air: what may be on its way. The whole is 6 MB. */
const underway = 1024 * 1024;

/** Says numbered lines as fast as anybody takes them, and notes in a file how many it got rid of. */
const talker = `
  const { writeSync, writeFileSync } = require("node:fs");
  for (let n = 0; n < ${lines}; n += 1) {
    const line = Buffer.from(String(n).padEnd(${lineBytes - 1}, "x") + "\\n");
    for (let at = 0; at < line.length;) at += writeSync(1, line, at);
    if (n % 100 === 99) writeFileSync(process.argv[1], String(n + 1));
  }
`;

const actor = { kind: "client", id: "test" } as const;

/** A thread in a turn, over a journal that takes records only while `isOpen`. */
const slowThread = Effect.gen(function* () {
  const isOpen = Latch.makeUnsafe(true);
  const store = Store.layerMemory().pipe(
    Layer.provide(Layer.succeed(Projection, { tables: [], version: 1, project: () => [] })),
  );
  const slow = Layer.effect(
    Journal,
    Effect.map(Journal, (journal) => ({
      ...journal,
      append: (entries: Parameters<typeof journal.append>[0]) => Effect.andThen(isOpen.await, journal.append(entries)),
    })),
  );
  const services = yield* Layer.build(
    ProviderRuntimeIngestion.layer({ threadBytes, shutdownMs: 100 }).pipe(
      Layer.provideMerge(slow.pipe(Layer.provideMerge(store))),
    ),
  );
  const writer = Context.get(services, Writer);
  const ingestion = Context.get(services, ProviderRuntimeIngestion);
  yield* writer.dispatch(
    { type: "thread.create", commandId: "c", threadId: "T", cwd: "/p", instance: "stub" },
    {
      now: new Date().toISOString(),
      actor,
      place: { projectId: "P", cwd: "/p" },
      instance: { known: true, refusedOptions: {} },
    },
  );
  yield* writer.step("T", (tx) => {
    tx.decide({ type: "session.open", generation: 1 }, { actor });
    tx.decide(
      { type: "session.opened", generation: 1, nativeSessionId: "n", resumed: false, capabilities: noCapabilities },
      { actor },
    );
    tx.decide({ type: "turn.start", turnId: "t", generation: 1 }, { actor });
  });
  return { ingestion, writer, isOpen };
});

const talk = Effect.fnUntraced(function* (ingestion: ProviderRuntimeIngestion["Service"]) {
  const { work, base } = yield* temporaryFolders;
  const progress = join(base, "progress");
  const child = yield* spawnAgent({
    command: process.execPath,
    args: ["-e", talker, progress],
    cwd: work,
    marker: "back-pressure",
  });
  const said = (): number => (existsSync(progress) ? Number(readFileSync(progress, "utf8")) : 0);
  const reading = yield* Effect.forkScoped(
    Stream.runForEach(child.lines, (line) => {
      const text = isOversize(line) ? line.head : line;
      const payload = { stream: "assistant_text", text };
      return ingestion.submit("T", 1, {
        kind: "frame",
        native: { kind: "line", frame: {} },
        events: [{ type: "content.delta", turnId: "t", itemId: "m", payload }],
      });
    }),
  );
  /** How much it got rid of, once that does not change any more. */
  const stuck = Effect.gen(function* () {
    for (let before = -1, now = said(); ; before = now, now = said()) {
      if (now > 0 && now === before) return now;
      yield* Effect.sleep("300 millis");
    }
  });
  return { child, reading, said, stuck };
});

describe("an agent that talks faster than the store writes", () => {
  it.live(
    "waits in its pipe, in bounded room, and loses nothing once there is room",
    () =>
      Effect.gen(function* () {
        const { ingestion, isOpen } = yield* slowThread;
        yield* isOpen.close;
        const { reading, said, stuck } = yield* talk(ingestion);
        const written = yield* stuck;
        assert.isBelow(written * lineBytes, underway);
        assert.isAtMost(ingestion.waitingBytes(), threadBytes);
        assert.isUndefined(reading.pollUnsafe());
        yield* isOpen.open;
        yield* Fiber.join(reading);
        yield* ingestion.drain("T");
        assert.strictEqual(said(), lines);
        assert.strictEqual(ingestion.waitingBytes(), 0);
        assert.strictEqual(ingestion.diagnostics("T").applied, lines);
      }).pipe(Effect.scoped),
    60_000,
  );

  it.live(
    "is stopped although its reader waits for room",
    () =>
      Effect.gen(function* () {
        const { ingestion, isOpen } = yield* slowThread;
        yield* isOpen.close;
        const { child, reading, stuck } = yield* talk(ingestion);
        yield* stuck;
        const begun = performance.now();
        yield* child.end({ grace: 0 });
        const { signal } = yield* child.exit;
        assert.isDefined(signal);
        assert.isBelow(performance.now() - begun, 5_000);
        assert.isUndefined(reading.pollUnsafe());
        yield* isOpen.open;
      }).pipe(Effect.scoped),
    60_000,
  );
});
