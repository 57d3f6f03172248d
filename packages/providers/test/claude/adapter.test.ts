/** The adapter against a stand-in for Claude Code: what the real one can't be made to do on demand. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { it } from "@effect/vitest";
import type { RuntimeRecord } from "@tributary/contracts";
import { Deferred, Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { openFake, secret } from "./stand-in.ts";

describe("records", () => {
  it.effect("are there, in the order of the wire, when a call returns", () =>
    Effect.gen(function* () {
      const { session, seen, close } = yield* openFake();
      yield* session.prompt({ inputId: "i", text: "text" });
      const shown = seen.records.map(({ kind, dir, native }) => `${dir} ${kind} ${native.kind}`);
      expect(shown.slice(0, 6)).toEqual([
        "out call control_request/initialize",
        "in reply control_response",
        "out call control_request/get_settings",
        "in reply control_response",
        "out frame user",
        "in frame command_lifecycle",
      ]);
      yield* seen.until("turn.completed");
      expect(seen.texts()).toEqual(["hello"]);
      yield* close;
    }),
  );

  it.effect("wait for ingestion, and the pipe with them, and none is lost", () =>
    Effect.gen(function* () {
      const gate = Deferred.makeUnsafe<void>();
      const all = Deferred.makeUnsafe<void>();
      const texts: Array<string> = [];
      let taken = 0;
      let isGated = false;
      const emit = ({ events }: RuntimeRecord) =>
        Effect.andThen(
          isGated ? Deferred.await(gate) : Effect.void,
          Effect.sync(() => {
            taken += 1;
            for (const event of events) {
              if (event.type === "content.delta") texts.push(event.payload.text);
              if (event.type === "turn.completed") Deferred.doneUnsafe(all, Effect.void);
            }
          }),
        );
      const { session } = yield* openFake({}, { emit });
      yield* session.prompt({ inputId: "i", text: "many" });
      isGated = true;
      // Some records at most were on their way.
      expect(taken).toBeLessThan(2000);
      yield* Deferred.succeed(gate, undefined);
      yield* Deferred.await(all);
      expect(texts.join("")).toBe(Array.from({ length: 20_000 }, (_, at) => `${at} `).join(""));
      yield* session.close;
    }),
  );

  it.effect("keep what is no JSON", () =>
    Effect.gen(function* () {
      const { seen, turn, close } = yield* openFake();
      yield* turn("noise");
      const noise = seen.records.find(({ native }) => native.frame === "Segmentation fault (almost)");
      expect(noise).toMatchObject({ events: [{ type: "unknown" }] });
      yield* close;
    }),
  );
});

describe("opening", () => {
  it.effect("starts nothing when a value would be read as an option", () =>
    Effect.gen(function* () {
      const disallowedTools = ["Bash", "--dangerously-skip-permissions"];
      const error = yield* Effect.flip(openFake({}, { disallowedTools }));
      expect(error).toMatchObject({ code: "unsupported_option", failure: { code: "disallowedTools" } });
    }),
  );

  it.effect.each([
    [{ model: "other" }, { model: "m" }, "model"],
    [{ effort: "low" }, { model: "m", effort: "high" }, "effort"],
  ] as const)("fails when something else is used than was asked for: %j", ([fake, wanted, option]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openFake(fake, wanted));
      expect(error).toMatchObject({ code: "unsupported_option", failure: { code: option } });
    }),
  );

  it.effect("takes an alias for the model that it stands for", () =>
    Effect.gen(function* () {
      const { session, close } = yield* openFake({}, { model: "alias", effort: "high" });
      expect(session).toMatchObject({ model: "m", effort: "high", capabilities: { efforts: ["low", "high"] } });
      yield* close;
    }),
  );

  it.effect("takes an older runtime at its word, which tells neither settings nor what it has read", () =>
    Effect.gen(function* () {
      const { session, seen, turn, close } = yield* openFake({ old: true }, { model: "m" });
      expect(session.model).toBe("m");
      yield* turn("text");
      expect(seen.all("turn.started")).toMatchObject([{ payload: { origin: "input", inputIds: ["input-text"] } }]);
      expect(seen.texts()).toEqual(["hello"]);
      yield* close;
    }),
  );

  it.effect("fails with what Claude Code said last, without secrets", () =>
    Effect.gen(function* () {
      const crashed = yield* Effect.flip(openFake({ crash: true }));
      expect(crashed).toMatchObject({ code: "runtime_exited", failure: { message: "no such key: •••" } });
      const refused = yield* Effect.flip(openFake({ refuse: true }));
      expect(refused).toMatchObject({ code: "runtime_refused" });
      expect(JSON.stringify([crashed, refused])).not.toContain(secret);
    }),
  );

  it.effect.each([
    ["session_held_by_background", "session_unavailable"],
    ["anything_else", "runtime_exited"],
  ])("says why it can't start: %s", ([startFailure, code]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openFake({ startFailure }));
      expect(error).toMatchObject({ code, failure: { code: startFailure, message: "It runs elsewhere" } });
    }),
  );

  it.effect("hands MCP servers over by a file that only this user can read", () =>
    Effect.gen(function* () {
      const headers = { Authorization: "a-bearer-token" };
      const mcpServers = [{ name: "far", transport: "http" as const, url: "https://mcp.example", headers }];
      const { seen, turn, close } = yield* openFake({}, { mcpServers });
      yield* turn("mcp");
      const read: unknown = JSON.parse(seen.texts()[0] ?? "");
      const server = { type: "http", url: "https://mcp.example", headers: { Authorization: "•••" } };
      expect(read).toEqual({ mode: "600", text: JSON.stringify({ mcpServers: { far: server } }) });
      yield* turn("argv");
      const argv = JSON.parse(seen.texts()[1] ?? "") as ReadonlyArray<string>;
      const file = argv[argv.indexOf("--mcp-config") + 1] ?? "";
      expect(file).not.toBe("");
      expect(existsSync(dirname(file))).toBe(false);
      yield* close;
    }),
  );
});

describe("a session", () => {
  it.effect("refuses at once what nobody can answer, but never a dialog that it did not ask for", () =>
    Effect.gen(function* () {
      const { seen, turn, close } = yield* openFake();
      yield* turn("odd");
      expect(seen.all("request.opened")).toEqual([]);
      expect(seen.texts().map((text): unknown => JSON.parse(text))).toEqual([
        { subtype: "error", request_id: "odd", error: "brew_coffee is not supported by this client" },
      ]);
      yield* close;
    }),
  );

  it.effect("answers once, with an option that was offered", () =>
    Effect.gen(function* () {
      const { session, seen, close } = yield* openFake();
      yield* session.prompt({ inputId: "i", text: "ask" });
      yield* seen.until("request.opened");
      const answer = (optionId: string) =>
        session.answer?.({ requestId: "r-1", answer: { optionId } }) ?? Effect.die(new Error("it takes none"));
      expect(yield* Effect.flip(answer("maybe"))).toMatchObject({ failure: { code: "invalid_answer" } });
      yield* answer("allow");
      yield* seen.until("turn.completed");
      expect(seen.texts()).toEqual([expect.stringContaining('{"behavior":"allow"')]);
      expect(seen.all("request.resolved")).toMatchObject([{ payload: { outcome: "answered", optionId: "allow" } }]);
      expect(yield* Effect.flip(answer("allow"))).toMatchObject({ failure: { code: "request_over" } });
      yield* close;
    }),
  );

  it.effect("sends separators of lines in a way that ends none", () =>
    Effect.gen(function* () {
      const { seen, turn, close } = yield* openFake();
      yield* turn("one\u2028two\u2029three");
      expect(seen.texts()).toEqual(["hello"]);
      const sent = seen.records.find(({ dir, native }) => dir === "out" && native.kind === "user");
      expect(JSON.stringify(sent)).toContain("one\u2028two");
      yield* close;
    }),
  );

  it.effect("does not wait for ever for an interrupt that hangs", () =>
    Effect.gen(function* () {
      const { session, seen, close } = yield* openFake({ hangs: true });
      yield* session.prompt({ inputId: "i", text: "hang" });
      yield* seen.until("turn.started");
      const interrupting = yield* Effect.forkChild(Effect.flip(session.interrupt({})));
      yield* seen.untilSo(() => seen.records.some(({ native }) => native.kind === "control_request/interrupt"));
      yield* TestClock.adjust("31 seconds");
      expect(yield* Fiber.join(interrupting)).toMatchObject({ reason: "unconfirmed" });
      const closing = yield* Effect.forkChild(close);
      yield* TestClock.adjust("1 second");
      yield* Fiber.join(closing);
    }),
  );

  it.effect("says when a mode is not taken", () =>
    Effect.gen(function* () {
      const { session, close } = yield* openFake({ stuck: "default" });
      const configured = session.configure?.({ interactionMode: "plan" }) ?? Effect.die(new Error("it can't"));
      expect(yield* Effect.flip(configured)).toMatchObject({ failure: { code: "interactionMode" } });
      yield* close;
    }),
  );

  it.effect("tells how Claude Code went when it goes by itself, last, and takes nothing more", () =>
    Effect.gen(function* () {
      const { session, seen, close } = yield* openFake();
      yield* Effect.ignore(session.prompt({ inputId: "i", text: "exit" }));
      yield* seen.until("session.exited");
      expect(seen.all("session.exited")).toMatchObject([
        { payload: { kind: "crash", exitCode: 3, recoverable: true, stderrTail: "no such key: •••\n" } },
      ]);
      expect(yield* Effect.flip(session.prompt({ inputId: "j", text: "text" }))).toMatchObject({
        reason: "not_written",
      });
      yield* close;
    }),
  );
});
