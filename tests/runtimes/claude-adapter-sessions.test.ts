import { claudeModel, mockTexts as texts } from "@tributary/testkit";
import { Effect, Exit, Scope } from "effect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Host, isFast, newInput, noneLeft, openSession, processesNamed, run, waitUntil } from "./adapter-host.ts";
import { answer, begin, type Claude, messages, startClaude, turn, withClaude } from "./claude-setup.ts";

let claude: Claude;

beforeAll(async () => {
  claude = await startClaude();
});
afterEach(() => claude.mock.reset());
afterAll(() => claude.stop());

const resuming = (host: Host, generation = 2) => ({
  generation,
  resume: { nativeSessionId: host.session.nativeSessionId },
});

/** The process goes without having been asked; its last record says so, and nothing of it runs. */
const died = (host: Host) =>
  Effect.gen(function* () {
    const exit = yield* host.seen.next("session.exited");
    expect(host.seen.records.at(-1)?.events.at(-1)).toBe(exit);
    yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 0));
    yield* noneLeft(host.marker);
    return exit.payload;
  });

describe("coming back", () => {
  it("goes on with the conversation in another process, and counts its costs once", async () => {
    const first = await withClaude(claude, (host) => Effect.as(turn(host, "[[text:to be remembered]]"), host));
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          expect(host.session).toMatchObject({ resumed: true, nativeSessionId: first.session.nativeSessionId });
          const said = yield* turn(host, "[[echo]]");
          expect(said.text).toBe(texts.echoText(["[[text:to be remembered]]", "[[echo]]"]));
          // Nothing of the past is told again.
          expect(messages(host, 0)).toHaveLength(1);
          const before = first.seen.all("turn.completed")[0]?.payload.costUsd ?? 0;
          const total = host.seen.all("usage.updated").at(-1)?.payload.costUsd ?? 0;
          expect((said.end.payload.costUsd ?? 0) + before).toBeCloseTo(total, 9);
          expect(host.seen.all("session.started")).toMatchObject([{ payload: { resumed: true } }]);
        }),
      resuming(first),
    );
  });

  it("comes back after it was killed in a turn, and an input that is sent again runs", async () => {
    const killed = await withClaude(claude, (host) =>
      Effect.gen(function* () {
        yield* turn(host, "[[text:before]]");
        const { from, input } = yield* begin(host, "[[gate:killed]]");
        yield* host.seen.next("content.delta", undefined, from);
        process.kill(host.pid(), "SIGKILL");
        expect(yield* died(host)).toMatchObject({ kind: "killed", signal: "SIGKILL", recoverable: true });
        const late = Effect.flip(host.session.prompt(newInput("late")));
        expect(yield* late).toMatchObject({ reason: "not_written" });
        return { host, input };
      }),
    );
    claude.mock.releaseGate("killed");
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const from = host.seen.events.length;
          yield* host.session.prompt(killed.input);
          yield* host.seen.next("turn.completed", undefined, from);
          expect(messages(host, from)).toEqual([texts.plainText]);
          expect(host.seen.all("turn.started", from)).toMatchObject([
            { payload: { inputIds: [killed.input.inputId] } },
          ]);
        }),
      resuming(killed.host),
    );
  });

  it("says that a conversation is not there", async () => {
    const nativeSessionId = "11111111-1111-4111-8111-111111111111";
    const opening = openSession(claude.setup, { model: claudeModel, resume: { nativeSessionId } });
    expect(await run(Effect.flip(opening))).toMatchObject({
      code: "session_unavailable",
      failure: { message: expect.stringContaining(nativeSessionId) },
    });
  });

  it("opens a session again that nobody said anything in", async () => {
    const unused = await withClaude(claude, (host) => Effect.succeed(host));
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          expect(host.session.resumed).toBe(true);
          expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
        }),
      resuming(unused),
    );
  });

  it.skipIf(isFast)("forks a conversation, and comes back to the fork", async () => {
    const parent = await withClaude(claude, (host) =>
      Effect.gen(function* () {
        yield* turn(host, "[[text:of the parent]]");
        const fork = host.session.fork ?? (() => Effect.die(new Error("it can't be forked")));
        expect(yield* Effect.flip(fork({ atTurnId: "x" }))).toMatchObject({ reason: "unsupported" });
        return { host, fork: yield* fork({}) };
      }),
    );
    const resume = { resume: parent.fork };
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const said = yield* turn(host, "[[echo]]");
          expect(said.text).toBe(texts.echoText(["[[text:of the parent]]", "[[echo]]"]));
          const [started] = host.seen.all("session.started");
          expect(started?.payload.nativeSessionId).not.toBe(parent.host.session.nativeSessionId);
        }),
      resume,
    );
    await withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          expect((yield* turn(host, "[[echo]]")).text).toMatch(/^3 user messages/);
        }),
      { ...resume, generation: 2 },
    );
  });
});

describe("failures", () => {
  const quick = [
    ["[[err:400ctx]]", "context_overflow", false],
    ["[[err:402]]", "quota", false],
    ["[[err:429]]", "rate_limit", true],
  ] as const;
  const slow = [
    ["[[err:401]]", "auth", false],
    ["[[err:500]]", "provider", true],
    ["[[err:529]]", "provider", true],
    ["[[cut:40,always]]", "transport", true],
  ] as const;
  it.each([...quick, ...(isFast ? [] : slow)])("%s: %s", (prompt, failure, retryable) =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const failed = yield* turn(host, prompt);
        expect(failed.end.payload).toMatchObject({ outcome: "failed", error: { class: failure, retryable } });
        expect(failed.text).toBe("");
        expect(messages(host, failed.from)).toEqual([]);
        if (retryable) expect(host.seen.all("retry.scheduled", failed.from).length).toBeGreaterThan(0);
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ),
  );

  it("shows a text once that was cut and said again", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const said = yield* turn(host, "[[cut:40]]");
        expect(said.text).toBe(texts.plainText);
        // On a busy machine the cut may come before the first word.
        const started = host.seen.all("item.started", said.from).map(({ itemId }) => itemId);
        const retracted = host.seen.all("content.retracted", said.from).map(({ itemId }) => itemId);
        expect(retracted).toEqual(started.slice(0, -1));
        expect(messages(host, said.from)).toEqual([texts.plainText]);
      }),
    ));

  it.skipIf(isFast)("says nothing where the model says nothing", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const said = yield* turn(host, "[[empty]]");
        expect(said.end.payload.outcome).toBe("completed");
        expect(said.text).toBe("");
        expect(messages(host, said.from)).toEqual([]);
      }),
    ),
  );

  it("says that nobody is logged in", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const failed = yield* turn(host, "[[text]]");
          expect(failed.end.payload).toMatchObject({ outcome: "failed", error: { class: "auth" } });
        }),
      { instance: claude.instance("nobody", { ANTHROPIC_API_KEY: undefined }) },
    ));
});

describe("the end of a process", () => {
  it("ends a turn, its shell and the process when it is closed", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[slow_shell:50]]");
        const { requestId } = yield* host.seen.next("request.opened", undefined, from);
        yield* answer(host, requestId, { optionId: "allow" });
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 1));
        yield* host.session.close;
        expect(yield* died(host)).toMatchObject({ kind: "graceful" });
      }),
    ));

  it.each([
    ["terminate", { kind: "killed", exitCode: 143 }],
    ["kill", { kind: "killed", signal: "SIGKILL" }],
  ] as const)("ends everything by %s", (signal, expected) =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[slow_shell:50]]");
        const { requestId } = yield* host.seen.next("request.opened", undefined, from);
        yield* answer(host, requestId, { optionId: "allow" });
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 1));
        yield* host.session.signal(signal);
        const exit = yield* host.seen.next("session.exited");
        expect(exit.payload).toMatchObject(expected);
        // A shell that ignores TERM needs the next step.
        yield* host.session.signal("kill");
        yield* died(host);
      }),
    ),
  );

  it("ends everything when its scope closes without a word", () =>
    run(
      Effect.gen(function* () {
        const host = yield* openSession(claude.setup, { model: claudeModel });
        yield* begin(host, "[[slow]]");
        yield* Scope.close(host.scope, Exit.void);
        expect(host.seen.all("session.exited")).toHaveLength(1);
        yield* died(host);
      }),
    ));
});
