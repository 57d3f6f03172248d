import { existsSync } from "node:fs";
import { join } from "node:path";
import { mockTexts as texts, planStages } from "@tributary/testkit";
import { Effect } from "effect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Host, isFast, newInput, processesNamed, waitUntil } from "./adapter-host.ts";
import { answer, begin, type Claude, ends, messages, startClaude, turn, withClaude } from "./claude-setup.ts";

let claude: Claude;
let count = 0;

beforeAll(async () => {
  claude = await startClaude();
});
afterEach(() => claude.mock.reset());
afterAll(() => claude.stop());

const fresh = (name: string): string => {
  count += 1;
  return `${name}-${count}.txt`;
};

const states = (host: Host, from: number) => host.seen.all("input.state", from).map(({ payload }) => payload);

describe("a turn", () => {
  it("says everything exactly, whatever it is made of", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const cases = [
          ["[[text]]", texts.plainText],
          ["[[unicode]]", texts.unicodeText],
          ["[[reasoning]]", texts.afterReasoningText],
          ["[[empty]]", ""],
          ["[[huge:200000]]", texts.hugeText(200_000)],
        ] as const;
        for (const [prompt, words] of cases) {
          const said = yield* turn(host, prompt);
          expect(said.end.payload).toMatchObject({ outcome: "completed", stopReason: "end" });
          expect(said.text).toBe(words);
          expect(messages(host, said.from).join("")).toBe(words);
          expect(host.seen.all("turn.started", said.from)).toMatchObject([
            { payload: { inputIds: [said.input.inputId], origin: "input" } },
          ]);
          expect(states(host, said.from)).toEqual([
            { inputId: said.input.inputId, state: "acknowledged" },
            { inputId: said.input.inputId, state: "started" },
          ]);
        }
        expect(ends(host, "reasoning", 0)).toMatchObject([{ text: texts.reasoningText }]);
        expect(host.seen.all("unknown")).toEqual([]);
      }),
    ));

  it("takes text with separators and emoji as it is", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const words = "a\u2028b\u2029c\u0085d 👩🏽‍💻 \\n [[echo]]";
        expect((yield* turn(host, words)).text).toBe(texts.echoText([words]));
      }),
    ));
});

describe("approvals", () => {
  it("runs a command that was allowed once, and asks for the next one", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const name = fresh("once");
        const said = yield* turn(host, `[[shell:echo hi > ${name}; echo said]]`);
        expect(claude.written(name)).toBe("hi\n");
        expect(said.text).toBe(texts.beforeToolText + texts.afterToolText);
        const [request] = host.seen.all("request.opened", said.from);
        expect(request?.payload).toMatchObject({
          kind: "approval",
          action: "command",
          title: `echo hi > ${name}; echo said`,
          subject: { command: `echo hi > ${name}; echo said`, cwd: claude.setup.cwd, tool: "Bash" },
        });
        expect(host.seen.all("request.resolved", said.from)).toMatchObject([
          { requestId: request?.requestId, payload: { outcome: "answered", optionId: "allow", by: "client" } },
        ]);
        expect(ends(host, "command", said.from)).toMatchObject([{ status: "completed", output: "said" }]);
        const again = yield* turn(host, `[[shell:echo hi > ${name}; echo said]]`);
        expect(host.seen.all("request.opened", again.from)).toHaveLength(1);
      }),
    ));

  it("goes on without a command that was refused, and ends the turn where it was refused for good", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const name = fresh("refused");
        const refused = yield* turn(host, `[[shell:touch ${name}]]`, "reject");
        expect(refused.end.payload.outcome).toBe("completed");
        expect(refused.text).toBe(texts.beforeToolText + texts.afterToolText);
        expect(ends(host, "command", refused.from)).toMatchObject([{ status: "declined" }]);
        const stopped = yield* turn(host, `[[shell:touch ${name}]]`, "cancel");
        expect(stopped.end.payload.outcome).toBe("interrupted");
        expect(existsSync(join(claude.setup.cwd, name))).toBe(false);
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ));

  it("asks once for a command that was allowed for the session, and writes that down nowhere", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const prompt = `[[shell:touch ${fresh("session")}]]`;
        const first = yield* turn(host, prompt, "allow_session");
        const second = yield* turn(host, prompt);
        expect(host.seen.all("request.opened", first.from)).toHaveLength(1);
        expect(ends(host, "command", second.from)).toMatchObject([{ status: "completed" }]);
        expect(existsSync(join(claude.setup.cwd, ".claude"))).toBe(false);
      }),
    ));

  it("shows the change of a file that it asks for, and the exact one when it was made", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const name = fresh("file");
        const path = join(claude.setup.cwd, name);
        const write = yield* turn(host, `[[write:${name}]]`);
        expect(claude.written(name)).toBe(texts.writtenText);
        const added = { path, kind: "add", diff: `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+${texts.writtenText}` };
        expect(host.seen.all("request.opened", write.from)).toMatchObject([
          { payload: { action: "file_change", title: `Write ${name}`, subject: { paths: [path], changes: [added] } } },
        ]);
        expect(ends(host, "file_change", write.from)).toMatchObject([{ status: "completed", changes: [added] }]);
        const edit = yield* turn(host, `[[edit:${name}]]`, "allow_mode");
        expect(claude.written(name)).toBe(texts.editedText);
        const lines = `-${texts.writtenText}+${texts.editedText}`;
        expect(ends(host, "file_change", edit.from)[0]?.changes?.[0]?.diff).toContain(lines);
        // Edits are allowed from now on.
        const free = yield* turn(host, `[[write:${fresh("free")}]]`);
        expect(host.seen.all("request.opened", free.from)).toEqual([]);
      }),
    ));

  it.skipIf(isFast)("refuses an answer that is none of the options, and one that comes too late", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[shell:touch late.txt]]");
        const { requestId } = yield* host.seen.next("request.opened", undefined, from);
        const wrong = Effect.flip(answer(host, requestId, { optionId: "maybe" }));
        expect(yield* wrong).toMatchObject({ reason: "refused", failure: { code: "invalid_answer" } });
        yield* answer(host, requestId, { optionId: "reject" });
        yield* host.seen.next("turn.completed", undefined, from);
        const late = Effect.flip(answer(host, requestId, { optionId: "allow" }));
        expect(yield* late).toMatchObject({ reason: "refused", failure: { code: "request_over" } });
      }),
    ),
  );
});

describe("plans and questions", () => {
  it("asks the person", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const said = yield* turn(host, "[[question]]");
        expect(said.text).toContain('"Which colour do you want?"="Blue"');
        expect(host.seen.all("request.opened", said.from)).toMatchObject([
          {
            payload: {
              kind: "user_input",
              questions: [{ header: "Colour", options: [{ label: "Red" }, { label: "Blue" }], multiple: false }],
            },
          },
        ]);
      }),
    ));

  it("proposes a plan in plan mode, goes on planning when it is rejected, and leaves the mode when it is accepted", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const rejected = yield* turn(host, "[[exit_plan]]", "reject");
          expect(host.seen.all("proposed_plan.completed", rejected.from)).toMatchObject([
            { payload: { markdown: texts.proposedPlanText } },
          ]);
          const accepted = yield* turn(host, "[[exit_plan]]");
          expect(host.seen.all("request.opened", accepted.from)).toMatchObject([{ payload: { action: "plan_exit" } }]);
          expect(accepted.text).toBe(texts.afterPlanText);
          const modes = host.seen.all("session.configured").flatMap(({ payload }) => payload.options ?? []);
          expect(modes.map(({ value }) => value)).toEqual(["plan", "default"]);
          yield* host.session.configure?.({ interactionMode: "plan" }) ?? Effect.void;
          yield* host.seen.next(
            "session.configured",
            ({ payload }) => payload.options?.[0]?.value === "plan",
            accepted.from,
          );
        }),
      { interactionMode: "plan" },
    ));

  it("tells its to-do list", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const said = yield* turn(host, "[[plan]]");
        // Each step begins as pending, whatever the model wished.
        const [, second] = planStages;
        expect(host.seen.all("turn.plan", said.from).at(-1)?.payload.steps).toEqual(second);
        expect(said.text).toBe(texts.beforeToolText + texts.afterPlanText);
      }),
    ));
});

describe("sub-agents and background work", () => {
  it("shows what a sub-agent says and asks under its own path", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const name = fresh("child");
        const said = yield* turn(host, `[[subagent:[[shell:touch ${name}]]]]`);
        expect(existsSync(join(claude.setup.cwd, name))).toBe(true);
        const [task] = host.seen.all("task.started", said.from);
        const path = task?.payload.agentPath ?? [];
        expect(task).toMatchObject({ turnId: said.end.turnId, payload: { kind: "subagent", title: "Mock sub-agent" } });
        expect(messages(host, said.from, path)).toEqual([texts.beforeToolText, texts.afterToolText]);
        expect(messages(host, said.from)).toEqual([texts.beforeToolText, texts.afterToolText]);
        expect(host.seen.all("request.opened", said.from)).toMatchObject([{ agentPath: path }]);
        expect(host.seen.all("task.completed", said.from)).toMatchObject([
          { payload: { taskId: task?.payload.taskId, status: "completed", summary: texts.afterToolText } },
        ]);
      }),
    ));

  it.skipIf(isFast)("follows work in the background, and the turn that the runtime begins when it is done", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const agent = JSON.stringify({
          description: "bg",
          prompt: "[[slow:20,50]]",
          subagent_type: "general-purpose",
          run_in_background: true,
        });
        const said = yield* turn(host, `[[call:Agent ${agent}]]`);
        const begun = yield* host.seen.next("turn.started", ({ payload }) => payload.origin === "runtime", said.from);
        const end = yield* host.seen.next("turn.completed", (event) => event.turnId === begun.turnId, said.from);
        expect(end.payload.outcome).toBe("completed");
        const [task] = host.seen.all("task.started", said.from);
        expect(task).toMatchObject({ turnId: said.end.turnId, payload: { kind: "background" } });
        expect(messages(host, said.from, task?.payload.agentPath)).toEqual([texts.slowText(20)]);
        const command = JSON.stringify({ command: "sleep 1; echo late", description: "slow", run_in_background: true });
        const shell = yield* turn(host, `[[call:Bash ${command}]]`);
        const done = yield* host.seen.next("task.completed", undefined, shell.from);
        expect(done.payload).toMatchObject({ kind: "background", status: "completed" });
        yield* host.seen.next("turn.completed", (event) => event.turnId !== shell.end.turnId, shell.from);
      }),
    ),
  );
});

describe("interrupting and steering", () => {
  it("stops a text, and goes on with the next prompt", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[gate:stop]]");
        yield* host.seen.next("content.delta", undefined, from);
        yield* Effect.promise(() => claude.mock.gateHeld("stop"));
        yield* host.session.interrupt({});
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.payload.outcome).toBe("interrupted");
        expect(texts.plainText.startsWith(messages(host, from)[0] ?? "-")).toBe(true);
        claude.mock.releaseGate("stop");
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ));

  it("stops a command, and its shell is gone", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[slow_shell:50]]");
        const { requestId } = yield* host.seen.next("request.opened", undefined, from);
        yield* answer(host, requestId, { optionId: "allow" });
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 1));
        yield* host.session.interrupt({});
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.payload.outcome).toBe("interrupted");
        expect(ends(host, "command", from)).toMatchObject([{ status: "interrupted" }]);
        yield* waitUntil(Effect.map(processesNamed(host, "sleep"), (rows) => rows.length === 0));
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ));

  it("stops while a person is asked", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from } = yield* begin(host, "[[shell:touch never.txt]]");
        const request = yield* host.seen.next("request.opened", undefined, from);
        yield* host.session.interrupt({});
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.payload.outcome).toBe("interrupted");
        expect(host.seen.all("request.resolved", from)).toMatchObject([
          { requestId: request.requestId, payload: { outcome: "withdrawn" } },
        ]);
        expect(existsSync(join(claude.setup.cwd, "never.txt"))).toBe(false);
      }),
    ));

  it.skipIf(isFast)("takes a prompt back that has not begun, and stops sub-agents", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const from = host.seen.events.length;
        const input = newInput("[[slow:20,50]]");
        yield* Effect.all([Effect.exit(host.session.prompt(input)), host.session.interrupt({})], {
          concurrency: "unbounded",
        });
        const over = yield* Effect.raceFirst(
          host.seen.next("input.state", ({ payload }) => payload.state === "withdrawn", from),
          host.seen.next("turn.completed", undefined, from),
        );
        if (over.type === "turn.completed") expect(over.payload.outcome).toBe("interrupted");
        const agent = yield* begin(host, "[[subagent:[[slow:100,50]]]]");
        yield* host.seen.next("task.started", undefined, agent.from);
        yield* host.session.interrupt({});
        yield* host.seen.next("turn.completed", ({ payload }) => payload.outcome === "interrupted", agent.from);
        expect(host.seen.all("task.completed", agent.from)).toMatchObject([{ payload: { status: "interrupted" } }]);
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ),
  );

  it("folds what is steered into the running turn", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const { from, input } = yield* begin(host, "[[shell:touch steered.txt]]");
        const request = yield* host.seen.next("request.opened", undefined, from);
        const second = newInput("[[text:steered]]");
        yield* host.session.steer?.({ ...second, turnId: request.turnId ?? "" }) ?? Effect.void;
        yield* answer(host, request.requestId, { optionId: "allow" });
        const end = yield* host.seen.next("turn.completed", undefined, from);
        expect(end.turnId).toBe(request.turnId);
        expect(host.seen.all("turn.started", from)).toHaveLength(1);
        expect(states(host, from)).toEqual([
          { inputId: input.inputId, state: "acknowledged" },
          { inputId: input.inputId, state: "started" },
          { inputId: second.inputId, state: "held" },
          { inputId: second.inputId, state: "folded" },
        ]);
        expect(messages(host, from).at(-1)).toBe("steered");
        const late = host.session.steer?.({ ...newInput("x"), turnId: request.turnId ?? "" }) ?? Effect.void;
        expect(yield* Effect.flip(late)).toMatchObject({ reason: "refused", failure: { code: "no_active_turn" } });
      }),
    ));

  it.skipIf(isFast)(
    "gives a message that came too late to be folded the next turn, and takes one back that was not read",
    () =>
      withClaude(claude, (host) =>
        Effect.gen(function* () {
          const { from } = yield* begin(host, "[[gate:late]]");
          const { turnId = "" } = yield* host.seen.next("turn.started", undefined, from);
          yield* Effect.promise(() => claude.mock.gateHeld("late"));
          const [kept, taken] = [newInput("[[text:next]]"), newInput("[[text:never]]")];
          yield* host.session.steer?.({ ...kept, turnId }) ?? Effect.void;
          yield* host.session.steer?.({ ...taken, turnId }) ?? Effect.void;
          yield* host.session.withdraw?.({ inputId: taken.inputId }) ?? Effect.void;
          claude.mock.releaseGate("late");
          const end = yield* host.seen.next("turn.completed", (event) => event.turnId !== turnId, from);
          expect(end.payload.outcome).toBe("completed");
          expect(messages(host, from)).toEqual([texts.plainText, "next"]);
          expect(
            states(host, from)
              .filter(({ inputId }) => inputId === taken.inputId)
              .at(-1)?.state,
          ).toBe("withdrawn");
          const gone = host.session.withdraw?.({ inputId: kept.inputId }) ?? Effect.void;
          expect(yield* Effect.flip(gone)).toMatchObject({ reason: "refused", failure: { code: "not_queued" } });
        }),
      ),
  );
});

describe("settings", () => {
  it("changes model, effort and mode, and says what it could not", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        const configure = (wanted: Parameters<NonNullable<typeof host.session.configure>>[0]) =>
          host.session.configure?.(wanted) ?? Effect.die(new Error("it can't be configured"));
        expect(yield* configure({ model: "opus", effort: "high" })).toMatchObject({ effort: "high" });
        const [model] = host.seen
          .all("session.configured")
          .flatMap(({ payload }) => payload.model ?? [])
          .slice(-1);
        expect(model).toMatch(/^claude-opus-/);
        expect(yield* Effect.flip(configure({ effort: "bogus" }))).toMatchObject({ failure: { code: "effort" } });
        expect(yield* configure({ approvalMode: "accept_edits" })).toMatchObject({ approvalMode: "accept_edits" });
        const free = yield* turn(host, `[[write:${fresh("edits")}]]`);
        expect(host.seen.all("request.opened", free.from)).toEqual([]);
        yield* configure({ approvalMode: "full_access" });
        yield* configure({ interactionMode: "plan" });
        const modes = host.seen.all("session.configured").flatMap(({ payload }) => payload.options ?? []);
        expect(modes.at(-1)?.value).toBe("plan");
      }),
    ));

  it.skipIf(isFast)("lets the instance skip the checks where the machine is a sandbox", () =>
    withClaude(
      claude,
      (host) =>
        Effect.gen(function* () {
          const name = fresh("free");
          const said = yield* turn(host, `[[shell:echo hi > ${name}]]`);
          expect(host.seen.all("request.opened", said.from)).toEqual([]);
          expect(claude.written(name)).toBe("hi\n");
        }),
      { approvalMode: "full_access", instance: claude.instance("sandbox", { IS_SANDBOX: "1" }) },
    ),
  );

  it.skipIf(isFast)("refuses to steer, answer and withdraw what is not there", () =>
    withClaude(claude, (host) =>
      Effect.gen(function* () {
        expect(yield* Effect.flip(answer(host, "no", { optionId: "allow" }))).toMatchObject({ reason: "refused" });
        const withdraw = host.session.withdraw?.({ inputId: "no" }) ?? Effect.void;
        expect(yield* Effect.flip(withdraw)).toMatchObject({ reason: "refused" });
        // Nothing runs: there is nothing to stop, and nothing breaks.
        yield* host.session.interrupt({});
        expect((yield* turn(host, "[[text]]")).text).toBe(texts.plainText);
      }),
    ),
  );
});
