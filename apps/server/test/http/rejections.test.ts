/** Every way in which a command is refused, as a client meets it: the code, what to do next, whether to send it again. */
import { RejectionCode } from "@tributary/contracts";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { addInstance } from "../support/agents.ts";
import type { TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";

type Next = "login" | "wait" | "retry" | "shorten" | "change_model" | "new_thread" | "none";
type Told = readonly [userAction: Next, resend: "safe" | "unsafe"];

/** From design section 5, not from the table of the contracts. */
const expected: Readonly<Record<string, Told>> = {
  busy: ["wait", "safe"],
  no_active_turn: ["none", "safe"],
  not_queued: ["none", "safe"],
  unsupported: ["none", "safe"],
  unsupported_option: ["none", "safe"],
  thread_not_found: ["new_thread", "safe"],
  thread_archived: ["none", "safe"],
  thread_deleted: ["new_thread", "safe"],
  thread_exists: ["none", "safe"],
  input_exists: ["none", "unsafe"],
  project_not_found: ["none", "safe"],
  project_exists: ["none", "safe"],
  project_in_use: ["none", "safe"],
  cwd_outside_roots: ["none", "safe"],
  cwd_missing: ["none", "safe"],
  cwd_immutable: ["new_thread", "safe"],
  unknown_request: ["none", "safe"],
  already_answered: ["none", "safe"],
  request_expired: ["none", "safe"],
  request_changed: ["retry", "safe"],
  invalid_answer: ["retry", "safe"],
  runtime_unavailable: ["none", "safe"],
  attachment_not_found: ["retry", "safe"],
  command_id_conflict: ["none", "unsafe"],
};

/** Not of commands: what became of an opening is told by events, and a full disk leaves no receipt. */
const elsewhere = ["runtime_refused", "runtime_exited", "session_unavailable", "storage_full"];

const approval = { do: "approval", name: "go", action: "command", title: "Go on?", subject: { command: "make" } };
const steerable = { name: "steerable", otherwise: [approval, { do: "silence" }] };
const dull = {
  name: "dull",
  capabilities: { steer: false, refusedOptions: { systemPrompt: "it has its own" } },
  otherwise: [{ do: "silence" }],
};
const hasty = {
  name: "hasty",
  otherwise: [{ ...approval, expiresAt: "2020-01-01T00:00:00.000Z" }, { do: "silence" }],
};

const prepared = Effect.gen(function* () {
  const server = yield* freshServer;
  yield* addInstance(server, "steerable", steerable);
  yield* addInstance(server, "dull", dull);
  yield* addInstance(server, "hasty", hasty);
  const post = (path: string, body: unknown) => Effect.promise(() => server.call(path, { body }));
  const thread = (threadId: string, instance: string, input?: string) =>
    post("/threads", {
      threadId,
      cwd: server.work,
      instance,
      ...(input === undefined ? {} : { input: { inputId: input, text: "x" } }),
    });
  yield* thread("busy", "steerable", "i1");
  yield* thread("dull", "dull", "d1");
  yield* thread("hasty", "hasty", "h1");
  yield* thread("idle", "steerable");
  yield* thread("gone", "steerable");
  yield* thread("away", "steerable");
  yield* Effect.promise(() => server.call("/threads/gone", { method: "DELETE" }));
  yield* Effect.promise(() => server.call("/threads/away", { method: "PATCH", body: { archived: true } }));
  const request = yield* pending(server, "busy");
  for (const threadId of ["dull", "hasty"])
    yield* until(server, threadId, (body) => body.thread.activeTurnId !== undefined);
  yield* until(server, "hasty", ({ rows }) => rows.some(({ state }: { state?: string }) => state === "expired"));
  const late = (yield* Effect.promise(() => server.call("/threads/hasty"))).body.rows.find(
    ({ kind }: { kind: string }) => kind === "request",
  );
  return { server, request, late: late.requestId };
});

// oxlint-disable-next-line typescript/no-explicit-any
const until = (server: TestServer, threadId: string, holds: (body: any) => boolean) =>
  Effect.gen(function* () {
    for (let patience = 0; patience < 400; patience += 1) {
      if (holds((yield* Effect.promise(() => server.call(`/threads/${threadId}`))).body)) return;
      yield* Effect.sleep(25);
    }
    assert.fail(`${threadId} did not come to that`);
  });

const pending = (server: TestServer, threadId: string) =>
  Effect.gen(function* () {
    for (;;) {
      const { body } = yield* Effect.promise(() => server.call(`/requests?threadId=${threadId}`));
      if (body.requests.length > 0) return body.requests[0].requestId as string;
      yield* Effect.sleep(25);
    }
  });

interface Attempt {
  readonly path: string;
  readonly body?: unknown;
  readonly method?: string;
  readonly key?: string;
}

describe("refused commands", () => {
  it.live("each with its code, what to do next, and whether it may be sent again (pain 8)", () =>
    Effect.gen(function* () {
      const { server, request, late } = yield* prepared;
      const { work } = server;
      const answer = (requestId: string) => `/requests/${encodeURIComponent(requestId)}/answer`;
      const input = (more: object) => ({ text: "y", ...more });
      yield* Effect.promise(() =>
        server.call("/threads/idle", {
          method: "PATCH",
          body: { title: "A" },
          headers: { "idempotency-key": "used" },
        }),
      );
      const attempts: Readonly<Record<string, Attempt>> = {
        busy: { path: "/threads/busy/inputs", body: input({ delivery: "prompt" }) },
        no_active_turn: { path: "/threads/idle/interrupt", body: {} },
        not_queued: { path: "/threads/busy/inputs/i1", method: "DELETE" },
        unsupported: { path: "/threads/dull/inputs", body: input({ delivery: "steer" }) },
        unsupported_option: {
          path: "/threads",
          body: { threadId: "n1", cwd: work, instance: "dull", systemPrompt: "be kind" },
        },
        thread_not_found: { path: "/threads/never/inputs", body: input({}) },
        thread_archived: { path: "/threads/away/inputs", body: input({}) },
        thread_deleted: { path: "/threads/gone/inputs", body: input({}) },
        thread_exists: { path: "/threads", body: { threadId: "idle", cwd: work, instance: "dull" } },
        input_exists: { path: "/threads/busy/inputs", body: input({ inputId: "i1", delivery: "queue" }) },
        project_not_found: { path: "/projects/never", method: "DELETE" },
        project_exists: { path: "/projects", body: { projectId: "P", root: work } },
        project_in_use: { path: "/projects/P", method: "DELETE" },
        cwd_outside_roots: { path: "/threads", body: { threadId: "n2", cwd: "/", instance: "dull" } },
        cwd_missing: { path: "/threads", body: { threadId: "n3", cwd: `${work}/none`, instance: "dull" } },
        cwd_immutable: { path: "/threads/idle", method: "PATCH", body: { cwd: "/" } },
        unknown_request: { path: answer("never"), body: { threadId: "busy", answer: { optionId: "allow" } } },
        request_expired: { path: answer(late), body: { threadId: "hasty", answer: { optionId: "allow" } } },
        request_changed: {
          path: answer(request),
          body: { threadId: "busy", answer: { optionId: "allow" }, subjectHash: "0000000000000000" },
        },
        invalid_answer: { path: answer(request), body: { threadId: "busy", answer: { optionId: "maybe" } } },
        already_answered: { path: answer(request), body: { threadId: "busy", answer: { optionId: "reject" } } },
        runtime_unavailable: { path: "/threads", body: { threadId: "n4", cwd: work, instance: "nobody" } },
        attachment_not_found: {
          path: "/threads/idle/inputs",
          body: input({ attachments: [{ id: "never-uploaded" }] }),
        },
        command_id_conflict: { path: "/threads/idle", method: "PATCH", body: { title: "B" }, key: "used" },
      };
      assert.deepStrictEqual(
        [...Object.keys(attempts), ...elsewhere].toSorted(),
        [...RejectionCode.literals].toSorted(),
        "a code that nobody tries",
      );
      for (const [code, { path, key, ...options }] of Object.entries(attempts)) {
        if (code === "already_answered")
          yield* Effect.promise(() =>
            server.call(answer(request), { body: { threadId: "busy", answer: { optionId: "allow" } } }),
          );
        const { status, body } = yield* Effect.promise(() =>
          server.call(path, { ...options, ...(key === undefined ? {} : { headers: { "idempotency-key": key } }) }),
        );
        const [userAction, resend] = expected[code]!;
        assert.deepInclude(body, { code, userAction, resend }, `${code}: ${JSON.stringify(body)}`);
        assert.strictEqual(status, 409, code);
        assert.isAbove(body.detail.length, 20, `${code} says what is wrong and what to do`);
      }
    }),
  );
});
