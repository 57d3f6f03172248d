import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenOptions, RuntimeEventOf } from "@tributary/contracts";
import { codexModel, mockTexts as texts, planStages } from "@tributary/testkit";
import { Effect } from "effect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Host, newInput, processesNamed, run, runTurn, useSession, waitUntil } from "./adapter-host.ts";
import { type Codex, startCodex } from "./codex-setup.ts";

let codex: Codex;
let count = 0;

beforeAll(async () => {
  codex = await startCodex();
});
afterEach(() => codex.mock.reset());
afterAll(() => codex.stop());

const withSession = <A>(use: (host: Host) => Effect.Effect<A, unknown>, more: Partial<OpenOptions> = {}) =>
  run(useSession(codex.setup, use, more));

const fresh = (name: string): string => {
  count += 1;
  return `${name}-${count}.txt`;
};

describe("a turn", () => {
  it.each([
    ["[[text]]", texts.plainText],
    ["[[unicode]]", texts.unicodeText],
    ["[[reasoning]]", texts.afterReasoningText],
    ["[[empty]]", ""],
    ["[[huge:200000]]", texts.hugeText(200_000)],
  ])("%s", (prompt, text) =>
    withSession((host) =>
      Effect.gen(function* () {
        const turn = yield* runTurn(host, prompt);
        expect(turn.end.payload).toMatchObject({ outcome: "completed", stopReason: "end" });
        expect(turn.text).toBe(text);
        const whole = turn.events
          .filter((event): event is RuntimeEventOf<"item.completed"> => event.type === "item.completed")
          .flatMap(({ payload }) => (payload.itemType === "assistant_message" ? [payload.text ?? ""] : []));
        expect(whole.join("")).toBe(text);
        expect(host.seen.all("turn.started", turn.from)).toMatchObject([
          { payload: { inputIds: [turn.input.inputId], origin: "input" } },
        ]);
        const states = host.seen.all("input.state", turn.from).map(({ payload }) => payload);
        expect(states).toEqual([
          { inputId: turn.input.inputId, state: "acknowledged" },
          { inputId: turn.input.inputId, state: "started" },
        ]);
        expect(host.seen.all("unknown")).toEqual([]);
      }),
    ),
  );
});

describe("images", () => {
  it("reach the model, from a file whose name says nothing of what it is", () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const image = join(codex.setup.cwd, "0".repeat(64));
    writeFileSync(image, Buffer.from(png, "base64"));
    return withSession(
      (host) =>
        Effect.gen(function* () {
          const from = host.seen.events.length;
          const attachments = [{ id: "a", name: "pixel.png", mimeType: "image/png" }];
          yield* host.session.prompt({ ...newInput("[[text:seen]]"), attachments });
          const end = yield* host.seen.next("turn.completed", undefined, from);
          expect(end.payload).toMatchObject({ outcome: "completed" });
          expect(codex.requests.at(-1)).toContain("data:image/png;base64,");
        }),
      { attachmentPath: (id) => (id === "a" ? image : undefined) },
    );
  });
});

const optionsOf = (request: RuntimeEventOf<"request.opened">) => (request.payload.options ?? []).map(({ id }) => id);
const commandsOf = (host: Host, from: number) =>
  host.seen.all("item.completed", from).filter(({ payload }) => payload.itemType === "command");

describe("approvals", () => {
  it("runs a command that was allowed once, and asks for the next one", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const name = fresh("once");
        const turn = yield* runTurn(host, `[[shell:echo hi > ${name}; echo said]]`);
        expect(codex.written(name)).toBe("hi\n");
        expect(turn.text).toBe(texts.beforeToolText + texts.afterToolText);
        const [request] = host.seen.all("request.opened", turn.from);
        expect(request?.payload).toMatchObject({
          kind: "approval",
          action: "command",
          subject: { cwd: codex.setup.cwd },
          title: `Run: echo hi > ${name}; echo said`,
        });
        expect(request?.payload.subject?.command).toContain(`echo hi > ${name}; echo said`);
        expect(request && optionsOf(request)).toEqual([
          "accept",
          "acceptForSession",
          "acceptWithExecpolicyAmendment",
          "decline",
          "cancel",
        ]);
        expect(host.seen.all("request.resolved", turn.from)).toMatchObject([
          { requestId: request?.requestId, payload: { outcome: "answered", optionId: "accept", by: "client" } },
        ]);
        expect(commandsOf(host, turn.from)).toMatchObject([{ payload: { status: "completed", exitCode: 0 } }]);
        const again = yield* runTurn(host, `[[shell:echo hi > ${name}; echo said]]`);
        const [second] = host.seen.all("request.opened", again.from);
        expect(second?.requestId).not.toBe(request?.requestId);
      }),
    ));

  it("goes on without a command that was declined", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const name = fresh("declined");
        const turn = yield* runTurn(host, `[[shell:echo hi > ${name}]]`, () => ({ optionId: "decline" }));
        expect(turn.end.payload.outcome).toBe("completed");
        expect(turn.text).toBe(texts.beforeToolText + texts.afterToolText);
        expect(commandsOf(host, turn.from)).toMatchObject([{ payload: { status: "declined" } }]);
        expect(existsSync(join(codex.setup.cwd, name))).toBe(false);
      }),
    ));

  it("ends the turn when a command is cancelled", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const turn = yield* runTurn(host, "[[shell:echo hi > cancelled.txt]]", () => ({ optionId: "cancel" }));
        expect(turn.end.payload.outcome).toBe("interrupted");
        expect(host.seen.all("request.resolved", turn.from)).toMatchObject([{ payload: { optionId: "cancel" } }]);
        const next = yield* runTurn(host, "[[text]]");
        expect(next.text).toBe(texts.plainText);
      }),
    ));

  it("asks once for a command that was allowed for the session", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const prompt = `[[shell:echo hi > ${fresh("session")}]]`;
        const first = yield* runTurn(host, prompt, () => ({ optionId: "acceptForSession" }));
        const second = yield* runTurn(host, prompt);
        expect(host.seen.all("request.opened", first.from)).toHaveLength(1);
        expect(commandsOf(host, second.from)).toMatchObject([{ payload: { status: "completed" } }]);
      }),
    ));

  it("shows the diff of a file change that it asks for", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const name = fresh("patch");
        const path = join(codex.setup.cwd, name);
        const add = yield* runTurn(host, `[[write:${name}]]`);
        expect(codex.written(name)).toBe(texts.writtenText);
        expect(host.seen.all("request.opened", add.from)).toMatchObject([
          {
            payload: {
              action: "file_change",
              title: `Change: ${name}`,
              subject: {
                paths: [path],
                changes: [{ path, kind: "add", diff: `@@ -0,0 +1 @@\n+${texts.writtenText}` }],
              },
            },
          },
        ]);
        const edit = yield* runTurn(host, `[[edit:${name}]]`);
        expect(codex.written(name)).toBe(texts.editedText);
        const diff = `@@ -1 +1 @@\n-${texts.writtenText}+${texts.editedText}`;
        expect(host.seen.all("request.opened", edit.from)).toMatchObject([
          { payload: { subject: { changes: [{ path, kind: "update", diff }] } } },
        ]);
        expect(host.seen.all("turn.diff", edit.from)).toHaveLength(1);
        expect(host.seen.all("turn.diff", edit.from)[0]?.payload.unifiedDiff).toContain(diff);
      }),
    ));

  it("asks nothing with full access", () =>
    withSession(
      (host) =>
        Effect.gen(function* () {
          const name = fresh("free");
          const turn = yield* runTurn(host, `[[shell:echo hi > ${name}]]`);
          expect(host.seen.all("request.opened", turn.from)).toEqual([]);
          expect(codex.written(name)).toBe("hi\n");
        }),
      { approvalMode: "full_access" },
    ));

  it("refuses an answer that is none of the options, and one that comes too late", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        yield* host.session.prompt(newInput("[[shell:echo hi > late.txt]]"));
        const { requestId = "" } = yield* host.seen.next("request.opened", undefined, from);
        const answer = (optionId: string) =>
          Effect.flip(host.session.answer?.({ requestId, answer: { optionId } }) ?? Effect.die("no answer"));
        expect(yield* answer("maybe")).toMatchObject({ reason: "refused", failure: { code: "invalid_answer" } });
        yield* host.session.answer?.({ requestId, answer: { optionId: "decline" } }) ?? Effect.void;
        yield* host.seen.next("turn.completed", undefined, from);
        expect(yield* answer("accept")).toMatchObject({ reason: "refused", failure: { code: "request_over" } });
      }),
    ));
});

describe("plans and questions", () => {
  it("asks the person in plan mode, and proposes a plan", () =>
    withSession(
      (host) =>
        Effect.gen(function* () {
          expect(host.seen.all("session.configured").at(-1)?.payload.model).toBe(codexModel);
          const asked = yield* runTurn(host, "[[question]]", () => ({ answers: { colour: "Blue" } }));
          expect(host.seen.all("request.opened", asked.from)).toMatchObject([
            {
              payload: {
                kind: "user_input",
                questions: [
                  {
                    id: "colour",
                    text: "Which colour do you want?",
                    options: [{ label: "Red" }, { label: "Blue" }],
                    multiple: false,
                    freeText: true,
                  },
                ],
              },
            },
          ]);
          expect(asked.text).toBe(texts.answeredText('{"answers":{"colour":{"answers":["Blue"]}}}'));
          const proposed = yield* runTurn(host, "[[exit_plan]]");
          expect(host.seen.all("proposed_plan.completed", proposed.from)).toMatchObject([
            { payload: { markdown: texts.proposedPlanText } },
          ]);
          const deltas = host.seen.all("proposed_plan.delta", proposed.from).map(({ payload }) => payload.text);
          expect(deltas.join("")).toBe(texts.proposedPlanText);
          const out = yield* runTurn(host, "[[text]]", undefined, { interactionMode: "default" });
          expect(out.text).toBe(texts.plainText);
          const back = yield* runTurn(host, "[[exit_plan]]");
          expect(host.seen.all("proposed_plan.completed", back.from)).toEqual([]);
        }),
      { interactionMode: "plan" },
    ));

  it("tells its to-do list", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const turn = yield* runTurn(host, "[[plan]]");
        expect(host.seen.all("turn.plan", turn.from).map(({ payload }) => payload.steps)).toEqual(planStages);
      }),
    ));
});

describe("interrupting and steering", () => {
  it("stops a text", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        yield* host.session.prompt(newInput("[[gate:stop]]"));
        yield* host.seen.next("content.delta", undefined, from);
        yield* Effect.promise(() => codex.mock.gateHeld("stop"));
        yield* host.session.interrupt({});
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.payload.outcome).toBe("interrupted");
        codex.mock.releaseGate("stop");
        expect((yield* runTurn(host, "[[text]]")).text).toBe(texts.plainText);
        expect(yield* Effect.flip(host.session.interrupt({}))).toMatchObject({ reason: "refused" });
      }),
    ));

  it("ends the command of an interrupted turn, and leaves one of an earlier turn alone", () =>
    withSession(
      (host) =>
        Effect.gen(function* () {
          const earlier = yield* runTurn(host, '[[call:exec_command {"cmd":"sleep 60; echo x","yield_time_ms":300}]]');
          const [task] = host.seen.all("task.started", earlier.from);
          expect(task?.payload).toMatchObject({ kind: "background", title: "sleep 60; echo x" });
          const from = host.seen.events.length;
          yield* host.session.prompt(newInput("[[slow_shell:50]]"));
          const { itemId } = yield* host.seen.next(
            "item.started",
            ({ payload }) => payload.itemType === "command",
            from,
          );
          yield* Effect.promise(() => codex.mock.waitForRequest((entry) => entry.scenario === "slow_shell"));
          yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 2));
          yield* host.session.interrupt({});
          const end = yield* host.seen.next("turn.completed", undefined, from);
          expect(end.payload.outcome).toBe("interrupted");
          // Its own end comes after the turn's.
          const over = yield* host.seen.next("item.completed", (event) => event.itemId === itemId, from);
          expect(over.payload.status).toBe("failed");
          expect(yield* processesNamed(host, "sleep")).toHaveLength(1);
        }),
      { approvalMode: "full_access" },
    ));

  it("stops while a person is asked", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        yield* host.session.prompt(newInput("[[shell:echo hi > never.txt]]"));
        const request = yield* host.seen.next("request.opened", undefined, from);
        yield* host.session.interrupt({});
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.payload.outcome).toBe("interrupted");
        const resolved = yield* host.seen.next("request.resolved", undefined, from);
        expect(resolved).toMatchObject({ requestId: request.requestId, payload: { outcome: "withdrawn" } });
      }),
    ));

  it("stops its sub-agents too", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        yield* host.session.prompt(newInput("[[subagent:[[slow_shell:50]]]]"));
        const request = yield* host.seen.next("request.opened", undefined, from);
        yield* (
          host.session.answer?.({ requestId: request.requestId ?? "", answer: { optionId: "accept" } }) ?? Effect.void
        );
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 1));
        yield* host.session.interrupt({});
        yield* host.seen.next("turn.completed", undefined, from);
        const task = yield* host.seen.next("task.completed", undefined, from);
        expect(task.payload.status).toBe("interrupted");
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 0));
      }),
    ));

  it("folds what is steered into the running turn", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        const first = newInput("[[shell:echo hi > steered.txt]]");
        yield* host.session.prompt(first);
        const request = yield* host.seen.next("request.opened", undefined, from);
        const second = newInput("[[text:steered]]");
        yield* host.session.steer?.({ ...second, turnId: request.turnId ?? "" }) ?? Effect.void;
        yield* (
          host.session.answer?.({ requestId: request.requestId ?? "", answer: { optionId: "accept" } }) ?? Effect.void
        );
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.turnId).toBe(request.turnId);
        expect(host.seen.all("turn.started", from)).toHaveLength(1);
        expect(host.seen.all("input.state", from).map(({ payload }) => payload)).toEqual([
          { inputId: first.inputId, state: "acknowledged" },
          { inputId: first.inputId, state: "started" },
          { inputId: second.inputId, state: "acknowledged" },
          { inputId: second.inputId, state: "folded" },
        ]);
        expect(host.seen.text(from)).toContain("steered");
        const late = Effect.flip(
          host.session.steer?.({ ...newInput("x"), turnId: request.turnId ?? "" }) ?? Effect.die("no steer"),
        );
        expect(yield* late).toMatchObject({ reason: "refused" });
      }),
    ));
});

describe("sub-agents", () => {
  it("tells what they do under the turn that spawned them", () =>
    withSession((host) =>
      Effect.gen(function* () {
        const name = fresh("child");
        const turn = yield* runTurn(host, `[[subagent:[[shell:echo hi > ${name}]]]]`);
        expect(turn.text).toBe(texts.beforeToolText + texts.afterToolText);
        expect(codex.written(name)).toBe("hi\n");
        const [task] = host.seen.all("task.started", turn.from);
        const path = task?.payload.agentPath ?? [];
        expect(path).toHaveLength(1);
        expect(task).toMatchObject({ turnId: turn.end.turnId, payload: { title: `[[shell:echo hi > ${name}]]` } });
        expect(host.seen.text(turn.from, path)).toBe(texts.beforeToolText + texts.afterToolText);
        expect(host.seen.all("request.opened", turn.from)).toMatchObject([
          { turnId: turn.end.turnId, agentPath: path },
        ]);
        expect(host.seen.all("task.completed", turn.from)).toMatchObject([
          { payload: { taskId: task?.payload.taskId, status: "completed", summary: texts.afterToolText } },
        ]);
        expect(host.seen.all("turn.started", turn.from)).toHaveLength(1);
      }),
    ));
});
