import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { addInstance } from "../support/agents.ts";
import { freshServer } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";

const moody = {
  name: "moody",
  on: { prompt: [{ fail: "refused", message: "not now", class: "rate_limit", retryable: true }, "accept"] },
  otherwise: [{ do: "text", text: "Done." }],
};

describe("an input that is sent again", () => {
  it.live("is the same: its text, its origin and the plan that it accepts", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "moody", moody);
      const call = (path: string, options: object = {}) => Effect.promise(() => server.call(path, options));
      const origin = { kind: "automation", source: "cron" };
      const input = { inputId: "i1", text: "do it", origin, planId: "p1" };
      yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "moody", input } });
      const stream = yield* Effect.promise(() => openSse(`${server.url}/threads/T/live`, { token: server.token }));
      yield* Effect.promise(() => stream.take(is("event", "input.failed")));
      const { body } = yield* call("/threads/T/inputs");
      assert.deepInclude(body.inputs[0], { id: "i1", state: "failed", origin, planId: "p1" });
      const again = yield* call("/threads/T/inputs/i1", { method: "PATCH", body: { state: "resubmit" } });
      assert.deepInclude(again.body, { status: "accepted", mode: "prompt" });
      const frames = yield* Effect.promise(() => stream.take(is("event", "turn.ended")));
      stream.close();
      const queued = frames.find(is("event", "input.queued"))?.data.payload;
      assert.deepInclude(queued, { inputId: "i1", text: "do it", origin, planId: "p1", again: true });
    }),
  );
});
