import { fileURLToPath } from "node:url";
import { Effect, Exit, Scope } from "effect";
import type { McpServer, OpenOptions } from "@tributary/contracts";
import { codexModel, mockTexts as texts } from "@tributary/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  closeSession,
  type Host,
  isFast,
  newInput,
  noneLeft,
  openSession,
  processesNamed,
  run,
  runTurn,
  useSession,
  waitUntil,
} from "./adapter-host.ts";
import { type Codex, startCodex } from "./codex-setup.ts";

let codex: Codex;

beforeAll(async () => {
  codex = await startCodex();
});
afterEach(() => codex.mock.reset());
afterAll(() => codex.stop());

const withSession = <A>(use: (host: Host) => Effect.Effect<A, unknown>, more: Partial<OpenOptions> = {}) =>
  run(useSession(codex.setup, use, more));

/** Opening that must fail; nothing of it may be left. */
const failing = (more: Partial<OpenOptions>, instance = codex.setup.instance) =>
  run(
    Effect.gen(function* () {
      const marker = "test-failing-open";
      const error = yield* Effect.flip(openSession({ ...codex.setup, instance }, { marker, ...more }));
      yield* noneLeft(marker);
      return error;
    }),
  );

describe("opening", () => {
  it("says what it opened, and what the instance has", () =>
    withSession(
      (host) =>
        Effect.sync(() => {
          const { session, seen } = host;
          expect(session).toMatchObject({
            resumed: false,
            cwd: codex.setup.cwd,
            model: `${codexModel}-mini`,
            effort: "high",
          });
          expect(session.capabilities).toMatchObject({
            models: [codexModel, `${codexModel}-mini`],
            efforts: ["low", "medium", "high"],
            attribution: "nested",
          });
          expect(seen.all("session.started")).toMatchObject([
            { payload: { nativeSessionId: session.nativeSessionId, resumed: false, model: `${codexModel}-mini` } },
          ]);
          expect(seen.records.map(({ kind, dir, native }) => `${dir} ${kind} ${native.kind}`).slice(0, 2)).toEqual([
            "out call initialize",
            "in reply initialize",
          ]);
        }),
      { model: `${codexModel}-mini`, effort: "high" },
    ));

  it("refuses what Codex would silently replace or not honour", async () => {
    expect(await failing({ effort: "bogus" })).toMatchObject({
      code: "unsupported_option",
      failure: { code: "effort" },
    });
    expect(await failing({ serviceTier: "bogus" })).toMatchObject({
      code: "unsupported_option",
      failure: { code: "serviceTier" },
    });
    expect(await failing({ disallowedTools: ["x"] })).toMatchObject({ failure: { code: "disallowedTools" } });
    const named: McpServer = { name: "a b", transport: "stdio", command: "x" };
    expect(await failing({ mcpServers: [named] })).toMatchObject({ failure: { code: "mcpServers" } });
  });

  it("says what to do when the program is missing or no Codex", async () => {
    const { instance } = codex.setup;
    expect(await failing({}, { ...instance, command: "/no/such/codex" })).toMatchObject({
      code: "runtime_unavailable",
    });
    expect(await failing({}, { ...instance, command: process.execPath })).toMatchObject({ code: "runtime_exited" });
  });

  it("does not make a session out of one that is not there", async () => {
    const nativeSessionId = "00000000-0000-7000-8000-000000000000";
    const error = await failing({ resume: { nativeSessionId } });
    expect(error).toMatchObject({ code: "session_unavailable" });
    expect(error.failure.message).toContain(nativeSessionId);
  });

  it("opens several sessions of a fresh home at once", async () => {
    const setup = { ...codex.setup, instance: codex.instance("fresh") };
    const one = useSession(setup, (host) => Effect.map(runTurn(host, "[[text]]"), ({ text }) => text));
    expect(await run(Effect.all([one, one, one], { concurrency: "unbounded" }))).toEqual(
      Array(3).fill(texts.plainText),
    );
  });
});

describe("resuming", () => {
  it("goes on in a new process, also after the old one was killed in the middle of a turn", () =>
    run(
      Effect.gen(function* () {
        const first = yield* openSession(codex.setup, { systemPrompt: "You are a test." });
        yield* runTurn(first, "[[text:remember me]]");
        const from = first.seen.events.length;
        yield* first.session.prompt(newInput("[[gate:killed]]"));
        yield* Effect.promise(() => codex.mock.gateHeld("killed"));
        yield* first.seen.next("content.delta", undefined, from);
        process.kill(first.pid(), "SIGKILL");
        const exited = yield* first.seen.next("session.exited");
        expect(exited.payload).toMatchObject({ kind: "killed", signal: "SIGKILL", recoverable: true });
        expect(yield* Effect.flip(first.session.prompt(newInput("[[text]]")))).toMatchObject({ reason: "not_written" });
        yield* closeSession(first);

        const { nativeSessionId } = first.session;
        const resume = { resume: { nativeSessionId }, generation: 2, effort: "low" };
        yield* useSession(
          codex.setup,
          (host) =>
            Effect.gen(function* () {
              expect(host.session).toMatchObject({ nativeSessionId, resumed: true, effort: "low" });
              expect(host.seen.all("session.started")).toMatchObject([{ payload: { resumed: true, nativeSessionId } }]);
              // Nothing of the past is told again.
              expect(host.seen.all("item.completed")).toEqual([]);
              expect((yield* runTurn(host, "[[echo]]")).text).toBe("3 user messages; the last one: [[echo]]");
              const { entries } = codex.mock.journal().at(-1) ?? { entries: [] };
              expect(JSON.stringify(entries)).toContain("remember me");
            }),
          resume,
        );
      }),
    ));

  it("asks under other ids in another process", () =>
    run(
      Effect.gen(function* () {
        const ask = (host: Host) =>
          Effect.map(
            runTurn(host, "[[shell:echo hi > asked.txt]]"),
            ({ from }) => host.seen.all("request.opened", from)[0],
          );
        const first = yield* useSession(codex.setup, ask);
        const second = yield* useSession(codex.setup, ask, { generation: 2 });
        expect(first?.native?.requestId).toBe("0");
        expect(second?.native?.requestId).toBe("0");
        expect(second?.requestId).not.toBe(first?.requestId);
      }),
    ));
});

describe("changing", () => {
  it("changes settings and reads them back", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const configure = host.session.configure ?? (() => Effect.die("no configure"));
        const changed = yield* configure({ model: `${codexModel}-mini`, effort: "low", approvalMode: "full_access" });
        expect(changed).toMatchObject({ model: `${codexModel}-mini`, effort: "low", approvalMode: "full_access" });
        expect(host.seen.all("session.configured").at(-1)?.payload).toMatchObject({
          model: `${codexModel}-mini`,
          effort: "low",
        });
        const free = yield* runTurn(host, "[[shell:echo hi > configured.txt]]");
        expect(host.seen.all("request.opened", free.from)).toEqual([]);
        expect(yield* configure({ effort: "low" })).toMatchObject({ effort: "low" });
        expect(yield* configure({ approvalMode: "ask", interactionMode: "plan" })).toMatchObject({
          interactionMode: "plan",
        });
        const asked = yield* runTurn(host, "[[question]]", () => ({ answers: { colour: ["Red"] } }));
        expect(asked.text).toContain("Red");
        expect(yield* Effect.flip(configure({ serviceTier: "bogus" }))).toMatchObject({
          failure: { code: "serviceTier" },
        });
      }),
    ));

  it("forks, and forgets the last turn", () =>
    run(
      Effect.gen(function* () {
        const forked = yield* useSession(codex.setup, (host) =>
          Effect.gen(function* () {
            const one = yield* runTurn(host, "[[text:one]]");
            yield* runTurn(host, "[[text:two]]");
            const { fork, rollback } = host.session;
            if (fork === undefined || rollback === undefined) throw new Error("no fork, no rollback");
            const { nativeSessionId } = yield* fork({ atTurnId: one.end.turnId ?? "" });
            yield* rollback({ turns: 1 });
            expect((yield* runTurn(host, "[[echo]]")).text).toMatch(/^2 user messages/);
            expect(yield* Effect.flip(rollback({ turns: 9 }))).toMatchObject({ reason: "refused" });
            return nativeSessionId;
          }),
        );
        const resume = { nativeSessionId: forked };
        const echo = yield* useSession(codex.setup, (host) => runTurn(host, "[[echo]]"), { resume });
        expect(echo.text).toMatch(/^2 user messages/);
      }),
    ));
});

describe("failures", () => {
  const classes = [
    ["[[err:400ctx]]", "context_overflow", false],
    ["[[err:401]]", "auth", false],
    ["[[err:402]]", "quota", false],
    ["[[err:429quota]]", "quota", false],
    ["[[err:404]]", "validation", false],
    ["[[err:500]]", "provider", true],
    ["[[err:503]]", "provider", true],
    ["[[cut:30,always]]", "transport", true],
    ["[[err:429]]", "rate_limit", true],
  ] as const;

  it.each(isFast ? classes.slice(0, 3) : classes)("%s is %s", (prompt, failure, retryable) =>
    withSession((host) =>
      Effect.gen(function* () {
        const turn = yield* runTurn(host, prompt);
        expect(turn.end.payload).toMatchObject({ outcome: "failed", error: { class: failure, retryable } });
        expect(host.seen.all("turn.completed", turn.from)).toHaveLength(1);
        expect((yield* runTurn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ),
  );

  it("takes back what a cut stream had said", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const turn = yield* runTurn(host, "[[cut:30]]");
        expect(turn.end.payload.outcome).toBe("completed");
        expect(host.seen.all("content.retracted", turn.from)).toHaveLength(1);
        expect(host.seen.all("retry.scheduled", turn.from)).toMatchObject([{ payload: { attempt: 1, limit: 1 } }]);
        expect(turn.text).toBe(texts.plainText);
      }),
    ));

  it("knows a missing key", async () => {
    const { MOCK_API_KEY: _, ...env } = codex.setup.instance.env ?? {};
    const setup = { ...codex.setup, instance: { ...codex.setup.instance, env } };
    const turn = await run(useSession(setup, (host) => runTurn(host, "[[text]]")));
    expect(turn.end.payload).toMatchObject({ outcome: "failed", error: { class: "auth" } });
  });
});

describe("ends", () => {
  it.each(["close", "terminate", "kill"] as const)("%s in the middle of a command leaves nothing running", (how) =>
    run(
      Effect.gen(function* () {
        const host = yield* openSession(codex.setup, { approvalMode: "full_access" });
        yield* host.session.prompt(newInput("[[slow_shell:50]]"));
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 1));
        yield* how === "close" ? host.session.close : host.session.signal(how);
        const exited = yield* host.seen.next("session.exited");
        expect(exited.payload.kind).toBe(how === "close" ? "graceful" : "killed");
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 0));
        yield* closeSession(host);
        expect(host.seen.all("session.exited")).toHaveLength(1);
        expect(host.seen.all("turn.completed")).toEqual([]);
      }),
    ),
  );

  it("tells its exit when its scope is closed", () =>
    run(
      Effect.gen(function* () {
        const host = yield* openSession(codex.setup);
        yield* Scope.close(host.scope, Exit.void);
        yield* noneLeft(host.marker);
        expect(host.seen.records.at(-1)?.events).toMatchObject([{ type: "session.exited" }]);
      }),
    ));
});

describe("MCP servers", () => {
  const secret = "a-secret-that-is-never-written";
  const mcpServers: ReadonlyArray<McpServer> = [
    {
      name: "small",
      transport: "stdio",
      command: process.execPath,
      args: [fileURLToPath(new URL("fixtures/mcp-server.mjs", import.meta.url))],
      env: { SMALL_SECRET: secret },
    },
  ];

  it("asks before a tool is used, and keeps secrets out of every record", () =>
    withSession(
      (host) =>
        Effect.gen(function* () {
          yield* host.seen.next("mcp.status", ({ payload }) => payload.servers[0]?.state === "ready");
          const turn = yield* runTurn(host, '[[call:add {"a":1,"b":2}]]', () => ({ optionId: "acceptForSession" }));
          expect(host.seen.all("request.opened", turn.from)).toMatchObject([
            { payload: { action: "mcp_tool", subject: { tool: "small: add", input: { a: 1, b: 2 } } } },
          ]);
          const done = host.seen
            .all("item.completed", turn.from)
            .find(({ payload }) => payload.itemType === "mcp_tool");
          expect(done?.payload).toMatchObject({ title: "small: add", output: { content: [{ text: "3" }] } });
          const again = yield* runTurn(host, '[[call:add {"a":2,"b":2}]]');
          expect(host.seen.all("request.opened", again.from)).toEqual([]);
          const whispered = yield* runTurn(host, "[[call:whisper {}]]");
          expect(JSON.stringify(whispered.events)).toContain("it is •••");
          expect(JSON.stringify(host.seen.records)).not.toContain(secret);
        }),
      { mcpServers },
    ));

  it("hands a server's own question to the person, also in a resumed session", () =>
    run(
      Effect.gen(function* () {
        const nativeSessionId = yield* useSession(codex.setup, (host) =>
          Effect.map(runTurn(host, "[[text]]"), () => host.session.nativeSessionId),
        );
        yield* useSession(
          codex.setup,
          (host) =>
            Effect.gen(function* () {
              const turn = yield* runTurn(host, "[[call:ask {}]]", ({ payload }) =>
                payload.kind === "approval" ? { optionId: "accept" } : { answers: { name: "Zoe" } },
              );
              const [, question] = host.seen.all("request.opened", turn.from);
              expect(question?.payload).toMatchObject({
                kind: "user_input",
                title: "small: Your name?",
                form: { properties: { name: { type: "string" } } },
              });
              expect(JSON.stringify(turn.events)).toContain("Zoe");
            }),
          { mcpServers, resume: { nativeSessionId }, generation: 2 },
        );
      }),
    ));
});

describe("installation", () => {
  it("tells program, version, account and models", async () => {
    const { adapter, instance } = codex.setup;
    const found = await run(adapter.installation(instance));
    expect(found).toMatchObject({
      available: true,
      path: instance.command,
      account: { state: "unknown" },
      models: [{ id: codexModel }, { id: `${codexModel}-mini` }],
      capabilities: { efforts: ["low", "medium", "high"], refusedOptions: { disallowedTools: expect.any(String) } },
    });
    expect(found.version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("says what to do when it is missing, or is something else", async () => {
    const { adapter, instance } = codex.setup;
    const { command: _, ...unset } = instance;
    const missing = await run(adapter.installation({ ...unset, env: { PATH: "/nowhere" } }));
    expect(missing).toMatchObject({ available: false, problem: expect.stringContaining("install it") });
    const other = await run(adapter.installation({ ...instance, command: process.execPath }));
    expect(other).toMatchObject({ available: false, problem: expect.stringContaining("app-server") });
  });
});
