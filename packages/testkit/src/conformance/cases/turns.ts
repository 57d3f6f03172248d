/** Opening, attribution, and what one turn after another says. */
import type { Capabilities } from "@tributary/contracts";
import { expect } from "vitest";
import { refusal } from "../client/client.ts";
import type { CaseGroup } from "../case.ts";
import { needs } from "../case.ts";

/** Must come back from a person's lips to the agent's as it is. */
const awkward =
  'na\u00efve e\u0301 \u{1f600} \u{1f468}\u200d\u{1f469}\u200d\u{1f467} a\u2028b \u05e9\u05dc\u05d5\u05dd "quoted" \\ end';

/** What a session's model can't change. */
const fixed = ({ models: _m, efforts: _e, serviceTiers: _s, maxContextTokens: _t, ...rest }: Capabilities) => rest;

export const turns: CaseGroup = {
  name: "turns",
  cases: [
    {
      name: "open",
      process: true,
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        expect(stage.world.agents(thread.cwd), "nothing runs before there is something to do").toEqual([]);
        const turn = await thread.run(stage.prompts.text);
        expect(turn.end).toMatchObject({ state: "completed" });
        expect(turn.text).toBe(stage.prompts.text.text);
        const { payload: session } = await thread.feed.next("session.started");
        expect(session).toMatchObject({ generation: 1, resumed: false });
        expect(session.nativeSessionId).not.toBe("");
        expect(fixed(session.capabilities), "what the session declares, against the instance").toEqual(
          fixed(stage.facts.capabilities),
        );
        expect(thread.agent()).toBeGreaterThan(0);
        await thread.feed.next("input.done", ({ inputId }) => inputId === turn.inputId);
        const { thread: shell } = await thread.page();
        expect(shell).toMatchObject({
          status: { value: "idle" },
          session: { state: "ready", generation: 1 },
          lastTurn: { id: turn.turnId, state: "completed" },
        });
      },
    },
    {
      name: "framing and attribution",
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        const said = stage.prompts.says(awkward);
        const turn = await thread.run(said);
        expect(turn.text).toBe(awkward);
        expect(thread.feed.all("turn.started").map(({ payload }) => payload)).toMatchObject([
          { turnId: turn.turnId, generation: 1, inputIds: [turn.inputId], origin: "input" },
        ]);
        for (const { start } of thread.feed.fold.texts.values())
          expect(start).toMatchObject({ turnId: turn.turnId, agentPath: [], generation: 1 });
        const page = await thread.page();
        expect(page.rows.filter((row) => row.kind === "message")).toMatchObject([
          { role: "user", rowId: turn.inputId, text: said.prompt, inputState: "done" },
          { role: "assistant", turnId: turn.turnId, agentPath: [], text: awkward },
        ]);
        const records = await thread.client.records(thread.id);
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
        expect(await thread.client.diagnostics(thread.id)).toMatchObject({ refused: {}, recent: [] });
      },
    },
    {
      name: "single active turn, and busy",
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        const { gate, said, ...held } = await thread.holdInText();
        expect((await thread.page()).thread).toMatchObject({ status: { value: "working" }, activeTurnId: held.turnId });
        expect(await refusal(thread.say("another", "prompt"))).toBe("busy");
        gate.release();
        expect(await thread.ended(held)).toMatchObject({ state: "completed" });
        expect(thread.feed.fold.said(held.turnId)).toBe(said.text);
        expect(thread.feed.fold.turns.begun).toBe(1);
      },
    },
    {
      name: "several turns of one session",
      fast: true,
      run: async (stage) => {
        const { says, memory } = stage.prompts;
        const thread = await stage.thread();
        for (const words of ["one", "two"]) expect((await thread.run(says(words))).text).toBe(words);
        const last = await thread.run(memory ?? says("three"));
        if (memory === undefined) expect(last.text).toBe("three");
        else expect(memory.count(last.text)).toBe(3);
        expect(thread.feed.all("session.opening")).toHaveLength(1);
        expect(thread.feed.all("turn.ended").map(({ payload }) => payload.state)).toEqual(Array(3).fill("completed"));
        expect(new Set(thread.feed.all("turn.started").map(({ payload }) => payload.turnId)).size).toBe(3);
      },
    },
    {
      name: "reasoning",
      fast: true,
      run: async (stage) => {
        const { reasoning, text } = stage.prompts.reasoning;
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.reasoning);
        expect(turn.text).toBe(text);
        expect(thread.feed.fold.reasoned(turn.turnId)).toBe(reasoning);
      },
    },
    {
      name: "to-do list",
      run: async (stage) => {
        const { stages, text } = stage.prompts.plan;
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.plan);
        expect(turn.text).toBe(text);
        const told = thread.feed.all("turn.plan_updated").map(({ payload }) => payload.steps);
        // Some tell the list whole, others step by step.
        const names = stages.at(-1)?.map((step) => step.text) ?? [];
        for (const steps of told) expect(names.slice(0, steps.length)).toEqual(steps.map((step) => step.text));
        expect(told.length).toBeGreaterThan(1);
        expect(told.at(-1)).toEqual(stages.at(-1));
        expect((await thread.page()).plan?.steps).toEqual(stages.at(-1));
      },
    },
    {
      name: "sub-agent",
      skip: needs(({ attribution }) => attribution === "attributed" || attribution === "nested", "attribution"),
      run: async (stage) => {
        const { child, text } = stage.prompts.subAgent;
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.subAgent);
        expect(turn.text).toBe(text);
        const { payload: task } = await thread.feed.next("task.started");
        const path = task.childPath ?? [];
        expect(path).toHaveLength(1);
        expect(thread.feed.fold.said(turn.turnId, path)).toBe(child);
        const { payload: end } = await thread.feed.next("task.ended", ({ taskId }) => taskId === task.taskId);
        expect(end.status).toBe("completed");
      },
    },
    {
      name: "tokens",
      skip: needs(({ usage }) => usage, "usage"),
      run: async (stage) => {
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.text);
        const told = [turn.end.usage, ...thread.feed.all("usage.recorded").map(({ payload }) => payload)];
        expect(told.some((usage) => (usage?.outputTokens ?? 0) > 0)).toBe(true);
        const { usage } = (await thread.page()).thread;
        expect(usage?.value.inputTokens).toBeGreaterThan(0);
      },
    },
    {
      name: "buffered text enters the log when it is whole",
      run: async (stage) => {
        const thread = await stage.thread({ textDelivery: "buffered" });
        const name = stage.world.name("gate");
        const said = stage.prompts.gate(name);
        const gate = await stage.driver.gate(name);
        const sent = await thread.say(said.prompt);
        await gate.held;
        const turnId = await thread.turnOf(sent);
        // Something later is in the log, the text is not.
        await thread.client.configure(thread.id, { title: "still writing" });
        await thread.feed.next("thread.renamed", ({ by }) => by === "client");
        expect(thread.feed.all("message.appended")).toEqual([]);
        gate.release();
        expect((await thread.ended(sent)).state).toBe("completed");
        expect(thread.feed.fold.said(turnId)).toBe(said.text);
      },
    },
    {
      name: "unicode",
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        expect((await thread.run(stage.prompts.unicode)).text).toBe(stage.prompts.unicode.text);
      },
    },
    {
      name: "200,000 characters",
      run: async (stage) => {
        const huge = stage.prompts.huge(200_000);
        const thread = await stage.thread();
        const turn = await thread.run(huge);
        expect(turn.text.length).toBe(200_000);
        expect(turn.text === huge.text, "the text is exact").toBe(true);
      },
    },
    {
      name: "an empty answer",
      run: async (stage) => {
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.empty);
        expect(turn.text).toBe(stage.prompts.empty.text);
        expect(["completed", "failed"]).toContain(turn.end.state);
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "a stream that breaks once: the text stands there once",
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        const turn = await thread.run(stage.prompts.brokenOnce);
        expect(turn.end.state).toBe("completed");
        expect(turn.text).toBe(stage.prompts.brokenOnce.text);
      },
    },
  ],
};
