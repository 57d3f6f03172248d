import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";
import { addInstance } from "../support/agents.ts";
import { is, openSse } from "../support/sse.ts";
import { answered, pairDevice } from "./devices.ts";

/** Asks for a command, with options of every scope. */
const wide = {
  name: "wide",
  otherwise: [
    {
      do: "tool",
      itemType: "command",
      title: "make",
      input: { command: "make" },
      ask: {
        name: "make",
        action: "command",
        title: "Run make?",
        subject: { command: "make" },
        options: [
          { id: "once", label: "Once", effect: "allow", scope: "once" },
          { id: "project", label: "In this project", effect: "allow", scope: "project" },
          { id: "user", label: "Always", effect: "allow", scope: "user" },
          { id: "no", label: "No", effect: "reject", scope: "once" },
        ],
      },
      output: "done\n",
      exitCode: 0,
    },
    { do: "text", text: "Done." },
  ],
};

const asked = async (server: TestServer, threadId: string) => {
  const body = { threadId, cwd: server.work, instance: "wide", input: { inputId: `${threadId}-i`, text: "go" } };
  answered(200, await server.call("/threads", { body }));
  const stream = await openSse(`${server.url}/threads/${threadId}/live`, server);
  const opened = (await stream.take(is("event", "request.opened"))).at(-1);
  stream.close();
  return opened?.data.payload.requestId as string;
};

describe("a device with the scope answer", () => {
  it.live("chooses what holds once, not what holds for the project or the user", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "wide", wide);
      const watch = yield* pairDevice(server, { scopes: ["observe", "answer"] });
      yield* Effect.promise(async () => {
        const requestId = await asked(server, "T");
        const answer = (call: TestServer["call"], optionId: string) =>
          call(`/requests/${requestId}/answer`, { body: { threadId: "T", answer: { optionId } } });
        for (const optionId of ["project", "user"]) {
          const refused = await answer(watch.call, optionId);
          assert.strictEqual(refused.status, 403);
          assert.match(refused.body.detail, /“admin”/);
        }
        // Without the thread's id as well.
        const short = await watch.call(`/requests/${requestId}/answer`, { body: { answer: { optionId: "user" } } });
        assert.strictEqual(short.status, 403);
        answered(200, await answer(watch.call, "once"));
        const second = await asked(server, "U");
        answered(
          200,
          await server.call(`/requests/${second}/answer`, { body: { threadId: "U", answer: { optionId: "user" } } }),
        );
      });
    }),
  );
});

describe("a device with the scope operate", () => {
  it.live("has neither full access nor programs of MCP servers, projects or instances to give", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        const thread = { cwd: server.work, instance: "demo" };
        const stdio = { name: "s", transport: "stdio", command: "/bin/true" };
        const http = { name: "h", transport: "http", url: "https://mcp.example" };
        answered(200, await phone.call("/threads", { body: { ...thread, threadId: "T" } }));
        answered(200, await phone.call("/threads", { body: { ...thread, mcpServers: [http] } }));
        const refusals = [
          await phone.call("/threads", { body: { ...thread, approvalMode: "full_access" } }),
          await phone.call("/threads", { body: { ...thread, mcpServers: [http, stdio] } }),
          await phone.call("/threads/T", { method: "PATCH", body: { approvalMode: "full_access" } }),
          await phone.call("/projects", { body: { root: "/" } }),
          await phone.call("/instances", { body: { id: "x", runtime: "scripted" } }),
          await phone.call("/instances/demo", { method: "PATCH", body: { command: "/bin/sh" } }),
          await phone.call("/settings", { method: "PATCH", body: { allowedOrigins: ["https://evil.example"] } }),
          await phone.call("/threads/T/records"),
          await phone.call("/audit"),
        ];
        for (const { status, body } of refusals) {
          assert.strictEqual(status, 403, JSON.stringify(body));
          assert.match(body.detail, /“(admin|diagnose)”/);
        }
        answered(200, await phone.call("/threads/T", { method: "PATCH", body: { approvalMode: "accept_edits" } }));
        answered(200, await server.call("/threads/T", { method: "PATCH", body: { approvalMode: "full_access" } }));
      });
    }),
  );

  it.live("reads on for the same person", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        answered(200, await server.call("/threads", { body: { threadId: "T", cwd: server.work, instance: "demo" } }));
        answered(200, await phone.call("/threads/T/read", { body: { upTo: 2 } }));
        assert.strictEqual((await server.call("/threads")).body.threads[0].readTo, 2);
      });
    }),
  );
});
