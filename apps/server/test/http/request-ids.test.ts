/** Answering by the request's id alone: the thread need be named only where the id does not tell. */
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { setTimeout as pause } from "node:timers/promises";
import { addInstance, asking } from "../support/agents.ts";
import { freshServer } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";

const ask = async (server: TestServer, threadId: string): Promise<string> => {
  const input = { inputId: `i-${threadId}`, text: "go" };
  await server.call("/threads", { body: { threadId, instance: "asking", cwd: server.work, input } });
  for (;;) {
    const { body } = await server.call(`/requests?threadId=${threadId}`);
    if (body.requests.length > 0) return body.requests[0].requestId;
    await pause(10);
  }
};

describe("answering by the request's id alone", () => {
  it.live(
    "finds the thread, also when the request is over; says what to add when several have it",
    () =>
      Effect.gen(function* () {
        const server = yield* freshServer;
        yield* addInstance(server, "asking", asking);
        yield* Effect.promise(async () => {
          const answer = (requestId: string, more: object = {}, key?: string) =>
            server.call(`/requests/${encodeURIComponent(requestId)}/answer`, {
              body: { answer: { optionId: "allow" }, ...more },
              headers: key === undefined ? {} : { "idempotency-key": key },
            });
          const optionOf = async (threadId: string) =>
            (await server.call(`/requests?threadId=${threadId}`)).body.requests[0].request.options[0].id;
          const requestId = await ask(server, "A");
          const optionId = await optionOf("A");
          assert.strictEqual(await ask(server, "B"), requestId);

          const both = await answer(requestId);
          assert.strictEqual(both.status, 400);
          assert.match(both.body.detail, /\(B, A\).*threadId/);
          const chosen = { answer: { optionId } };
          assert.strictEqual((await answer(requestId, { ...chosen, threadId: "A" })).status, 200);
          // One alone waits now.
          const first = await answer(requestId, chosen, "k");
          assert.strictEqual(first.status, 200, JSON.stringify(first.body));
          await server.call("/threads/A", { method: "DELETE" });
          // Over: what became of it, and the same receipt for the same call.
          assert.deepStrictEqual((await answer(requestId, chosen, "k")).body, first.body);
          const late = await answer(requestId, chosen);
          assert.deepInclude(late, { status: 409 });
          assert.strictEqual(late.body.code, "already_answered");
          const none = await answer("none");
          assert.strictEqual(none.status, 404);
          assert.match(none.body.detail, /GET \/requests/);
        });
      }),
    30_000,
  );
});
