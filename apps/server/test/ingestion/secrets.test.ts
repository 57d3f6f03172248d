/** I16 for who looks: a secret that an agent prints in pieces is in nothing that clients get, live or stored. */
import { assert, describe, it } from "@effect/vitest";
import type { RuntimeEvent } from "@tributary/contracts";
import { mask } from "@tributary/domain";
import { Effect } from "effect";
import { startServer, temporaryFolders } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";
import { saying } from "./saying.ts";

const secret = "sk-live-0123456789";
const pieces = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));

const delta =
  (itemId: string, stream: "assistant_text" | "command_output") =>
  (text: string): RuntimeEvent => ({
    type: "content.delta",
    turnId: "t1",
    itemId,
    payload: { stream, text },
  });

const said = `The key is ${secret}, and it begins with sk-live-.`;
const events: ReadonlyArray<RuntimeEvent> = [
  { type: "turn.started", turnId: "t1", payload: { inputIds: ["i"] } },
  { type: "item.started", turnId: "t1", itemId: "env", payload: { itemType: "command", title: "env" } },
  ...pieces(`KEY=${secret}\n`.repeat(3), 5).map(delta("env", "command_output")),
  { type: "item.completed", turnId: "t1", itemId: "env", payload: { itemType: "command" } },
  ...pieces(said, 3).map(delta("m", "assistant_text")),
  { type: "turn.completed", turnId: "t1", payload: { outcome: "completed" } },
];

describe("a secret in pieces", () => {
  it.live(
    "is masked in messages, output, events and live frames; what only looks like one is there",
    () =>
      Effect.gen(function* () {
        const server = yield* startServer(yield* temporaryFolders, { adapters: { said: saying(events) } });
        const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
        yield* call("/projects", { body: { root: server.work } });
        yield* call("/instances", { body: { id: "said", runtime: "said", env: { KEY: secret } } });
        yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "said" } });
        const live = yield* Effect.promise(() => openSse(`${server.url}/threads/T/live`, { token: server.token }));
        yield* call("/threads/T/inputs", { body: { inputId: "i", text: "go" } });
        const frames = yield* Effect.promise(() => live.take(is("event", "turn.ended")));
        live.close();
        assert.notInclude(JSON.stringify(frames), secret);

        const { body: page } = yield* call("/threads/T");
        const rows = page.rows as ReadonlyArray<Readonly<Record<string, unknown>>>;
        const expected = said.replace(secret, mask);
        assert.strictEqual(
          rows.find((row) => row["kind"] === "message" && row["role"] === "assistant")?.["text"],
          expected,
        );
        const output = `KEY=${mask}\n`.repeat(3);
        const { body: whole } = yield* call("/threads/T/items/env/output");
        assert.deepInclude(whole, { output, complete: true });
        for (const path of ["/threads/T", "/threads/T/events", "/threads/T/items/env/output", "/threads/T/records"])
          assert.notInclude(JSON.stringify((yield* call(path)).body), secret, path);
      }).pipe(Effect.scoped),
    30_000,
  );
});
