/** The adapter against a stand-in for Codex: what the real one can't be made to do on demand. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { OpenOptions, RuntimeRecord } from "@tributary/contracts";
import { it } from "@effect/vitest";
import { Deferred, Effect, Exit, Fiber, Scope } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { codex } from "../../src/codex/index.ts";
import { findSurvivors } from "../../src/process/index.ts";
import { ofType } from "./frames.ts";

const program = fileURLToPath(new URL("fixtures/fake-app-server.mjs", import.meta.url));
const secret = "very-secret-key";

/** A session of the stand-in, its records, and a way to wait for one. */
const open = (fake: object = {}, more: Partial<OpenOptions> = {}) =>
  Effect.gen(function* () {
    const records: Array<RuntimeRecord> = [];
    const waiting = new Set<() => void>();
    const scope = yield* Scope.make();
    const marker = `test-${randomUUID()}`;
    const session = yield* codex
      .open({
        threadId: "t",
        generation: 1,
        // The program comes first among the arguments, then what the adapter adds.
        instance: {
          id: "fake",
          runtime: "codex",
          command: process.execPath,
          args: [program],
          env: { FAKE: JSON.stringify(fake), SECRET_KEY: secret },
        },
        cwd: tmpdir(),
        approvalMode: "ask",
        interactionMode: "default",
        marker,
        onSpawned: () => Effect.void,
        emit: (record) =>
          Effect.sync(() => {
            records.push(record);
            for (const check of waiting) check();
          }),
        ...more,
      })
      .pipe(
        Effect.provideService(Scope.Scope, scope),
        Effect.onError(() => Scope.close(scope, Exit.void)),
        // The failure is all that is said of a session that did not open.
        Effect.tapError(() => Effect.sync(() => expect(records.at(-1)?.events ?? []).toEqual([]))),
      );
    /** Resolves when the records satisfy a condition. */
    const until = (condition: (records: ReadonlyArray<RuntimeRecord>) => boolean) =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<void>();
        const check = (): void => {
          if (condition(records)) Deferred.doneUnsafe(done, Effect.void);
        };
        waiting.add(check);
        check();
        return Effect.ensuring(
          Deferred.await(done),
          Effect.sync(() => waiting.delete(check)),
        );
      });
    const events = () => records.flatMap((record) => record.events);
    const turnEnded = until((all) => all.some((record) => record.native.kind === "turn/completed"));
    const close = Effect.gen(function* () {
      yield* session.close;
      yield* Scope.close(scope, Exit.void);
      expect(yield* findSurvivors({ marker })).toEqual([]);
      expect(records.at(-1)?.events.at(-1)?.type).toBe("session.exited");
      expect(ofType(events(), "session.exited")).toHaveLength(1);
    });
    return { session, records, events, until, turnEnded, close, marker };
  });

/** Virtual time goes on while processes do their work. */
const passing = Effect.forever(
  Effect.andThen(
    TestClock.adjust("1 second"),
    Effect.callback<void>((resume) => {
      setImmediate(() => resume(Effect.void));
    }),
  ),
);

const prompt = (text: string) => ({ inputId: `input-${text}`, text });

describe("records", () => {
  it.effect("are there, in the order of the wire, when a call returns", () =>
    Effect.gen(function* () {
      const { session, records, events, turnEnded, close } = yield* open();
      yield* session.prompt(prompt("text"));
      const shown = records.map(({ kind, dir, native }) => `${dir} ${kind} ${native.kind}`);
      expect(shown.slice(0, 8)).toEqual([
        "out call initialize",
        "in reply initialize",
        "out frame initialized",
        "out call thread/start",
        "in reply thread/start",
        "out call model/list",
        "in reply model/list",
        "out call turn/start",
      ]);
      expect(shown[8]).toBe("in reply turn/start");
      yield* turnEnded;
      expect(ofType(events(), "turn.completed")).toMatchObject([{ payload: { outcome: "completed" } }]);
      yield* close;
    }),
  );

  it.effect("wait for ingestion, and the pipe with them, and none is lost", () =>
    Effect.gen(function* () {
      const gate = Deferred.makeUnsafe<void>();
      const taken: Array<RuntimeRecord> = [];
      const all = Deferred.makeUnsafe<void>();
      let isGated = false;
      const emit = (record: RuntimeRecord) =>
        Effect.andThen(
          isGated ? Deferred.await(gate) : Effect.void,
          Effect.sync(() => {
            taken.push(record);
            if (record.native.kind === "turn/completed") Deferred.doneUnsafe(all, Effect.void);
          }),
        );
      const { session } = yield* open({}, { emit });
      yield* session.prompt(prompt("many"));
      isGated = true;
      // Some records at most were on their way.
      expect(taken.length).toBeLessThan(2000);
      yield* Deferred.succeed(gate, undefined);
      yield* Deferred.await(all);
      const text = ofType(
        taken.flatMap(({ events }) => events),
        "content.delta",
      )
        .map(({ payload }) => payload.text)
        .join("");
      expect(text).toBe(Array.from({ length: 20_000 }, (_, at) => `${at} `).join(""));
      yield* session.close;
    }),
  );

  it.effect("keep what is no JSON", () =>
    Effect.gen(function* () {
      const { session, records, turnEnded, close } = yield* open();
      yield* session.prompt(prompt("noise"));
      yield* turnEnded;
      const noise = records.find(({ native }) => native.kind === "noise");
      expect(noise).toMatchObject({ native: { frame: "Segmentation fault (almost)" }, events: [{ type: "unknown" }] });
      yield* close;
    }),
  );
});

describe("opening", () => {
  it.effect("fails when Codex silently takes another model", () =>
    Effect.gen(function* () {
      const marker = `test-${randomUUID()}`;
      const error = yield* Effect.flip(open({ model: "other" }, { model: "m", marker }));
      expect(error).toMatchObject({ code: "unsupported_option", failure: { code: "model" } });
      expect(yield* findSurvivors({ marker })).toEqual([]);
    }),
  );

  it.effect("fails with what Codex said last, without secrets", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(open({ crash: "initialize" }));
      expect(error).toMatchObject({ code: "runtime_exited" });
      expect(JSON.stringify(error)).toContain("no such key: •••");
      expect(JSON.stringify(error)).not.toContain(secret);
    }),
  );

  it.effect("fails when a mode is not taken", () =>
    Effect.gen(function* () {
      const replied = Deferred.makeUnsafe<void>();
      const emit = ({ kind, native }: RuntimeRecord) =>
        Effect.sync(() => {
          if (kind === "reply" && native.kind === "thread/settings/update") Deferred.doneUnsafe(replied, Effect.void);
        });
      const opening = yield* Effect.forkChild(Effect.flip(open({ deaf: true }, { interactionMode: "plan", emit })));
      yield* Deferred.await(replied);
      const error = yield* Effect.raceFirst(Fiber.join(opening), passing);
      expect(error).toMatchObject({ code: "unsupported_option", failure: { code: "interactionMode" } });
    }),
  );
});

describe("a session", () => {
  it.effect("refuses at once what nobody can answer, so that Codex goes on", () =>
    Effect.gen(function* () {
      const { session, events, turnEnded, close } = yield* open();
      yield* session.prompt(prompt("odd"));
      yield* turnEnded;
      expect(ofType(events(), "request.opened")).toEqual([]);
      expect(ofType(events(), "content.delta")[0]?.payload.text).toContain("-32601");
      yield* close;
    }),
  );

  it.effect("answers a request whose id is 0, once", () =>
    Effect.gen(function* () {
      const { session, events, until, turnEnded, close } = yield* open();
      yield* session.prompt(prompt("ask"));
      yield* until(() => ofType(events(), "request.opened").length > 0);
      const requestId = ofType(events(), "request.opened")[0]?.requestId ?? "";
      const answer = { requestId, answer: { optionId: "accept" } };
      yield* session.answer?.(answer) ?? Effect.void;
      yield* turnEnded;
      expect(ofType(events(), "request.resolved")[0]?.payload).toMatchObject({
        outcome: "answered",
        optionId: "accept",
      });
      expect(yield* Effect.flip(session.answer?.(answer) ?? Effect.die("none"))).toMatchObject({ reason: "refused" });
      yield* close;
    }),
  );

  it.effect("gives images by their path, and says that it takes nothing else", () =>
    Effect.gen(function* () {
      const attachmentPath = (id: string) => (id === "there" ? "/p/a.png" : undefined);
      const { session, records, turnEnded, close } = yield* open({}, { attachmentPath });
      const attach = (id: string, mimeType: string) =>
        session.prompt({ ...prompt("text"), attachments: [{ id, mimeType }] });
      expect(yield* Effect.flip(attach("gone", "image/png"))).toMatchObject({
        reason: "refused",
        failure: { message: expect.stringContaining("attach it again") },
      });
      expect(yield* Effect.flip(attach("there", "text/plain"))).toMatchObject({ reason: "unsupported" });
      yield* attach("there", "image/png");
      const sent = records.find(({ native }) => native.kind === "turn/start");
      expect(sent?.native.frame).toMatchObject({
        params: { input: [{ type: "text" }, { type: "localImage", path: "/p/a.png" }] },
      });
      yield* turnEnded;
      yield* close;
    }),
  );

  it.effect("does not wait for ever for an interrupt that hangs", () =>
    Effect.gen(function* () {
      const { session, events, until, close } = yield* open({ hangs: true });
      yield* session.prompt(prompt("hang"));
      yield* until(() => ofType(events(), "turn.started").length > 0);
      const interrupting = yield* Effect.forkChild(Effect.flip(session.interrupt({})));
      yield* until((records) => records.some(({ native }) => native.kind === "turn/interrupt"));
      yield* TestClock.adjust("4 seconds");
      expect(yield* Fiber.join(interrupting)).toMatchObject({ reason: "unconfirmed" });
      yield* close;
    }),
  );

  it.effect("tells how Codex went when it goes by itself, last", () =>
    Effect.gen(function* () {
      const { session, events, until, close } = yield* open();
      yield* session.prompt(prompt("exit"));
      yield* until(() => ofType(events(), "session.exited").length > 0);
      expect(ofType(events(), "session.exited")[0]?.payload).toMatchObject({
        kind: "crash",
        exitCode: 3,
        recoverable: true,
      });
      expect(yield* Effect.flip(session.prompt(prompt("text")))).toMatchObject({ reason: "not_written" });
      yield* close;
    }),
  );
});
