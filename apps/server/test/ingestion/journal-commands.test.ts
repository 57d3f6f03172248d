/** `tributary journal` and `tributary threads diagnostics`: what an agent said, and what became of it, on the command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import type { RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { startServer, temporaryFolders } from "../support/server.ts";
import { saying } from "./saying.ts";

const text = (said: string, turnId: string): RuntimeEvent => ({
  type: "content.delta",
  turnId,
  itemId: "m",
  payload: { stream: "assistant_text", text: said },
});

/** Says what no build knows, what cannot be read, and what belongs nowhere, beside an answer. */
const odd: ReadonlyArray<unknown> = [
  { type: "turn.started", turnId: "t1", payload: { inputIds: ["i"] } },
  { type: "unknown", payload: { kind: "thread/mood" } },
  { type: "unknown", payload: { kind: "thread/mood" } },
  { type: "content.delta", turnId: "t1", payload: { stream: "smell" } },
  text("lost", "nowhere"),
  text("Hello", "t1"),
  { type: "turn.completed", turnId: "t1", payload: { outcome: "completed" } },
];

// What adapters emit is checked at the boundary, whatever the compiler was told.
const adapter = saying(odd as ReadonlyArray<RuntimeEvent>);

const printed = (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    let stdout = "";
    let stderr = "";
    return runCommand(args).pipe(
      Effect.provideService(Output, {
        out: (said) => Effect.sync(() => void (stdout += said)),
        err: (said) => Effect.sync(() => void (stderr += said)),
      }),
      Effect.map(({ code, line = "" }) => ({ code, stdout, stderr: stderr + line })),
    );
  });

describe("the journal on the command line", () => {
  it.live(
    "is listed, shown, exported and pruned; diagnostics say what was unknown, unreadable and refused",
    () =>
      Effect.gen(function* () {
        const folders = yield* temporaryFolders;
        yield* Effect.gen(function* () {
          const server = yield* startServer(folders, { adapters: { odd: adapter } });
          const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
          yield* call("/projects", { body: { root: server.work } });
          yield* call("/instances", { body: { id: "odd", runtime: "odd" } });
          const input = { inputId: "i", text: "go" };
          yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "odd", input } });
          for (;;) {
            const { body } = yield* call("/threads/T");
            if (body.thread.lastTurn?.state === "completed") break;
            yield* Effect.sleep("20 millis");
          }
        }).pipe(Effect.scoped);

        const of = (...args: ReadonlyArray<string>) =>
          Effect.map(printed([...args, "--data", folders.data]), ({ code, stdout, stderr }) => {
            assert.strictEqual(code, 0, stderr);
            return stdout;
          });
        assert.match(yield* of("journal", "list"), /^T +odd +1$/m);
        const shown = (yield* of("journal", "show", "T")).trimEnd().split("\n");
        assert.strictEqual(shown.length, odd.length);
        assert.match(shown[1] ?? "", /^1\.2\t← frame\tsaid\t1 events\t\{"n":1\}$/);
        const records = (yield* of("journal", "show", "T", "--json")).trimEnd().split("\n");
        assert.deepInclude(JSON.parse(records[5] ?? ""), { generation: 1, seq: 6, dir: "in", frame: { n: 5 } });
        const exported = (yield* of("journal", "export", "T")).trimEnd().split("\n");
        assert.deepStrictEqual(
          exported.map((line) => JSON.parse(line).msg),
          odd.map((_, n) => ({ n })),
        );

        const told = yield* of("threads", "diagnostics", "T");
        assert.match(told, /does not know[^\n]*\n +thread\/mood +2\n/);
        assert.match(told, /could not be read\n +1\n/);
        assert.match(told, /turn_unknown +1\n/);
        assert.match(told, /1\.5 +content\.delta +turn_unknown/);
        assert.deepStrictEqual(JSON.parse(yield* of("threads", "diagnostics", "T", "--json")), {
          unknown: { "thread/mood": 2 },
          undecodable: 1,
          refused: { undecodable: 1, turn_unknown: 1 },
          recent: [
            { generation: 1, seq: 4, type: "content.delta", reason: "undecodable" },
            { generation: 1, seq: 5, type: "content.delta", reason: "turn_unknown" },
          ],
          stalled: [],
        });

        assert.match(yield* of("journal", "prune", "--days", "0"), /Let go of 7 records/);
        assert.strictEqual(yield* of("journal", "show", "T"), "");
        // The log does not need them.
        assert.match(yield* of("attach", "T"), /Hello/);
      }).pipe(Effect.scoped),
    60_000,
  );

  it.live(
    "`run --record` writes what `normalize` reads back",
    () =>
      Effect.gen(function* () {
        const folders = yield* temporaryFolders;
        const file = join(folders.base, "record.ndjson");
        const at = ["--cwd", folders.work, "--data", folders.data];
        const ran = yield* printed(["run", "demo", "hello", "--approve", "all", "--record", file, ...at]);
        assert.strictEqual(ran.code, 0, ran.stderr);
        const recorded = readFileSync(file, "utf8").trimEnd().split("\n");
        const [{ threadId }] = JSON.parse(
          (yield* printed(["threads", "--json", "--data", folders.data])).stdout,
        ).threads;
        const shown = yield* printed(["journal", "show", threadId, "--json", "--data", folders.data]);
        const records = shown.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as { readonly events: ReadonlyArray<RuntimeEvent> })
          .slice(0, recorded.length);
        const again = yield* printed(["normalize", "--runtime", "scripted", file]);
        assert.strictEqual(again.code, 0, again.stderr);
        const events = again.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown);
        assert.deepStrictEqual(events, records.flatMap((one) => one.events) as ReadonlyArray<unknown>);
      }).pipe(Effect.scoped),
    60_000,
  );
});
