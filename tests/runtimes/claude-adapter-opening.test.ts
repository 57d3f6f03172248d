import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServer } from "@tributary/contracts";
import { claudeModel } from "@tributary/testkit";
import { Effect } from "effect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isFast, newInput, openSession, run, runTurn } from "./adapter-host.ts";
import { type Claude, ends, startClaude, turn, withClaude } from "./claude-setup.ts";

let claude: Claude;

beforeAll(async () => {
  claude = await startClaude();
});
afterEach(() => claude.mock.reset());
afterAll(() => claude.stop());

describe("opening", () => {
  it.each([
    [{ serviceTier: "fast" }, "unsupported_option", "serviceTier"],
    [{ effort: "high" }, "unsupported_option", "effort"],
    [{ model: "opus", effort: "bogus" }, "unsupported_option", "effort"],
    [{ mcpServers: [{ name: "x", transport: "stdio" as const }] }, "unsupported_option", "mcpServers"],
    [{ cwd: "/nonexistent" }, "runtime_unavailable", undefined],
  ])("refuses %j", async (more, code, option) => {
    const failed = await run(Effect.flip(openSession(claude.setup, { model: claudeModel, ...more })));
    expect(failed).toMatchObject({ code, ...(option === undefined ? {} : { failure: { code: option } }) });
  });

  it("says what is wrong with the program", async () => {
    const instance = { ...claude.setup.instance, command: "/nonexistent/claude" };
    expect(await run(Effect.flip(openSession(claude.setup, { instance })))).toMatchObject({
      code: "runtime_unavailable",
    });
    const wrong = { ...claude.setup.instance, args: ["--no-such-option"] };
    expect(await run(Effect.flip(openSession(claude.setup, { instance: wrong })))).toMatchObject({
      code: "runtime_exited",
      failure: { message: expect.stringContaining("--no-such-option") },
    });
  });

  it("knows an alias of a model, and says what a session of it can do", () =>
    withClaude(
      claude,
      (host) =>
        Effect.sync(() => {
          expect(host.session.model).toMatch(/^claude-opus-/);
          expect(host.session.effort).toBe("low");
          expect(host.session.capabilities).toMatchObject({
            steer: true,
            efforts: expect.arrayContaining(["low", "max"]),
          });
          expect(host.session.capabilities.models).toContain("opus");
        }),
      { model: "opus", effort: "low" },
    ));

  it.skipIf(isFast)("adds instructions, and takes new ones when it comes back", async () => {
    const mark = (name: string) => ({ systemPrompt: `Remember ${name}.` });
    const first = await withClaude(claude, (host) => Effect.as(turn(host, "[[text]]"), host), mark("MARK-1"));
    expect(claude.requests.at(-1)).toContain("MARK-1");
    expect(claude.requests.at(-1)).toContain("Claude Code");
    await withClaude(claude, (host) => turn(host, "[[text]]"), {
      ...mark("MARK-2"),
      generation: 2,
      resume: { nativeSessionId: first.session.nativeSessionId },
    });
    expect(claude.requests.at(-1)).toContain("MARK-2");
    expect(claude.requests.at(-1)).not.toContain("MARK-1");
  });

  it.skipIf(isFast)("takes tools away", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const said = yield* turn(host, "[[write:never.txt]]");
          expect(ends(host, "file_change", said.from)).toEqual([]);
        }),
      { disallowedTools: ["Write", "Edit", "NotebookEdit"] },
    ),
  );

  it("keeps secrets of the instance out of what it emits", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const said = yield* turn(host, "[[shell:echo the secret is $PROBE_TOKEN]]");
          expect(ends(host, "command", said.from)).toMatchObject([{ output: "the secret is •••" }]);
          expect(JSON.stringify(host.seen.records)).not.toContain("quite-a-secret");
        }),
      { instance: claude.instance("secretive", { PROBE_TOKEN: "quite-a-secret" }) },
    ));

  it.skipIf(isFast)("sends images, and keeps their bytes out of the records", async () => {
    const image = join(claude.setup.cwd, "pixel.png");
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    writeFileSync(image, Buffer.from(png, "base64"));
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const attachments = [{ id: "a", mimeType: "image/png" }];
          const from = host.seen.events.length;
          yield* host.session.prompt({ ...newInput("[[text:seen]]"), attachments });
          yield* host.seen.next("turn.completed", undefined, from);
          expect(claude.requests.at(-1)).toContain('"type":"image"');
          const sent = host.seen.records.filter(({ dir }) => dir === "out");
          expect(JSON.stringify(sent)).not.toContain(png);
          const text = [{ id: "b", mimeType: "text/plain" }];
          const refused = Effect.flip(host.session.prompt({ ...newInput("x"), attachments: text }));
          expect(yield* refused).toMatchObject({ reason: "refused", failure: { code: "attachments" } });
        }),
      { attachmentPath: (id) => (id === "a" ? image : undefined) },
    );
  });

  it.skipIf(isFast)("runs two sessions of one home beside each other", () =>
    withClaude(claude, (one) =>
      Effect.promise(() =>
        withClaude(claude, (other) =>
          Effect.gen(function* () {
            const [first, second] = yield* Effect.all([turn(one, "[[text:one]]"), turn(other, "[[text:two]]")], {
              concurrency: "unbounded",
            });
            expect([first.text, second.text]).toEqual(["one", "two"]);
          }),
        ),
      ),
    ),
  );
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

  it("are handed over without leaving their secrets anywhere", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const line = readFileSync(`/proc/${host.pid()}/cmdline`, "utf8");
          const file = /--mcp-config\0([^\0]+)/.exec(line)?.[1] ?? "";
          expect(file).not.toBe("");
          expect(existsSync(dirname(file))).toBe(false);
          const added = yield* turn(host, '[[call:mcp__small__add {"a":1,"b":2}]]', "allow_session");
          expect(host.seen.all("mcp.status").at(-1)?.payload.servers).toMatchObject([
            { name: "small", state: "connected" },
          ]);
          expect(host.seen.all("request.opened", added.from)).toMatchObject([
            { payload: { action: "mcp_tool", subject: { tool: "mcp__small__add", input: { a: 1, b: 2 } } } },
          ]);
          expect(ends(host, "mcp_tool", added.from)).toMatchObject([{ status: "completed", output: "3" }]);
          const whispered = yield* turn(host, "[[call:mcp__small__whisper {}]]");
          expect(ends(host, "mcp_tool", whispered.from)).toMatchObject([{ output: "it is •••" }]);
          expect(line).not.toContain(secret);
          expect(JSON.stringify(host.seen.records)).not.toContain(secret);
        }),
      { mcpServers },
    ));

  it.skipIf(isFast)("ask the person themselves, also in a resumed session", async () => {
    const first = await withClaude(claude, (host) => Effect.as(turn(host, "[[text]]"), host));
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const said = yield* runTurn(host, "[[call:mcp__small__ask {}]]", ({ payload }) =>
            payload.kind === "approval" ? { optionId: "allow" } : { answers: { name: "Zoe" } },
          );
          expect(host.seen.all("request.opened", said.from)).toMatchObject([
            { payload: { kind: "approval" } },
            { payload: { kind: "user_input", form: { properties: { name: { type: "string" } } } } },
          ]);
          expect(ends(host, "mcp_tool", said.from)[0]?.output).toContain("Zoe");
        }),
      { mcpServers, resume: { nativeSessionId: first.session.nativeSessionId }, generation: 2 },
    );
  });
});

describe("the installation", () => {
  it("is described without a trace of looking", async () => {
    const instance = claude.instance("looked-at");
    const hooked = {
      hooks: { SessionStart: [{ hooks: [{ type: "command", command: `touch ${instance.home}/hooked` }] }] },
    };
    writeFileSync(join(instance.home ?? "", "settings.json"), JSON.stringify(hooked));
    const found = await run(claude.setup.adapter.installation(instance));
    expect(found).toMatchObject({
      available: true,
      path: instance.command,
      version: "2.1.332",
      account: { state: "ok" },
      capabilities: { approvals: true },
    });
    expect(found.models?.map(({ id }) => id)).toContain("opus");
    expect(existsSync(join(instance.home ?? "", "hooked"))).toBe(false);
    const projects = join(instance.home ?? "", "projects");
    const transcripts = existsSync(projects) ? readdirSync(projects, { recursive: true, encoding: "utf8" }) : [];
    expect(transcripts.filter((name) => name.endsWith(".jsonl"))).toEqual([]);
    const nobody = await run(
      claude.setup.adapter.installation(claude.instance("nobody", { ANTHROPIC_API_KEY: undefined })),
    );
    expect(nobody.account).toEqual({ state: "missing" });
  });

  it.skipIf(isFast)("finds the program on the path, and the copies behind it", async () => {
    const { command = "", home = "" } = claude.setup.instance;
    const folders = ["first", "second"].map((name) => join(home, name));
    for (const folder of folders) mkdirSync(folder);
    symlinkSync(command, join(folders[0] ?? "", "claude"));
    writeFileSync(join(folders[1] ?? "", "claude"), "#!/bin/sh\n", { mode: 0o755 });
    const { command: _, ...instance } = claude.instance("path", {
      PATH: `${folders.join(":")}:${process.env["PATH"]}`,
    });
    const found = await run(claude.setup.adapter.installation(instance));
    expect(found).toMatchObject({ available: true, path: join(folders[0] ?? "", "claude") });
    expect(found.shadowed).toContain(join(folders[1] ?? "", "claude"));
    const none = await run(claude.setup.adapter.installation({ ...instance, command: "no-such-claude" }));
    expect(none).toMatchObject({ available: false, problem: expect.stringContaining("no-such-claude") });
  });
});
