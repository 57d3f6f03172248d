/** The agent's own process dies: killed from outside in each state, or its stdin is closed. */
import { expect } from "vitest";
import type { CaseGroup, Stage } from "../case.ts";
import { needsApprovals } from "../case.ts";
import type { Sent, Thread } from "../world/thread.ts";

const kill = async (thread: Thread): Promise<void> => {
  process.kill(thread.agent(), "SIGKILL");
  const { payload } = await thread.feed.next("session.exited");
  expect(payload).toMatchObject({ generation: 1, kind: "killed", signal: "SIGKILL" });
};

/** A thread whose runtime has had a turn: what none has yet, some programs do not keep. */
const begun = async (stage: Stage, instance?: string): Promise<Thread> => {
  const thread = await stage.thread(instance === undefined ? {} : { instance });
  expect((await thread.run(stage.prompts.says("before"))).text).toBe("before");
  return thread;
};

const turnFailed = async (thread: Thread, sent: Sent): Promise<void> => {
  const end = await thread.ended(sent);
  expect(end).toMatchObject({ state: "failed", error: { class: "transport" }, settledBy: "system" });
};

/** What is left of the dead one is gone, and the thread goes on in another process. */
const goesOn = async (stage: Stage, thread: Thread): Promise<void> => {
  await stage.world.noneLeft(thread.cwd);
  expect((await thread.page()).thread.session).toMatchObject({ state: "exited" });
  if (!stage.facts.capabilities.resume.survivesKill) return;
  const { text } = stage.prompts;
  expect((await thread.run(text)).text).toBe(text.text);
  expect(thread.feed.all("session.started").map(({ payload }) => payload.resumed)).toEqual([false, true]);
};

export const deaths: CaseGroup = {
  name: "death of the agent",
  cases: [
    {
      name: "idle",
      process: true,
      run: async (stage) => {
        const thread = await begun(stage);
        await kill(thread);
        await goesOn(stage, thread);
      },
    },
    {
      name: "in text",
      process: true,
      fast: true,
      run: async (stage) => {
        const thread = await begun(stage);
        const held = await thread.holdInText();
        const queued = await thread.say(stage.prompts.says("queued").prompt, "queue");
        await kill(thread);
        await turnFailed(thread, held);
        expect(thread.feed.fold.said(held.turnId)).toBe(held.said.before);
        expect((await thread.page()).thread).toMatchObject({ queued: 1, queueHeld: "failed" });
        await thread.client.withdraw(thread.id, queued.inputId);
        await goesOn(stage, thread);
      },
    },
    {
      name: "in a tool",
      process: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await begun(stage);
        const held = await thread.holdInTool();
        await kill(thread);
        await turnFailed(thread, held);
        await held.line.gone;
        const ended = thread.feed.all("activity.ended").map(({ payload }) => payload);
        expect(ended).toContainEqual(expect.objectContaining({ status: "interrupted", settledBy: "system" }));
        await goesOn(stage, thread);
      },
    },
    {
      name: "while a person is asked",
      process: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await begun(stage);
        const held = await thread.holdInRequest();
        await kill(thread);
        const { requestId } = held.request.payload;
        await thread.feed.next("request.expired", (expired) => expired.requestId === requestId);
        await turnFailed(thread, held);
        await goesOn(stage, thread);
      },
    },
    {
      name: "stdin closed in the middle of a turn",
      process: true,
      run: async (stage) => {
        const thread = await begun(stage, stage.driver.instances.relayed.id);
        const held = await thread.holdInText();
        process.kill(thread.agent(), "SIGUSR2");
        // Some programs go at once, others finish what they are at; both then go.
        held.gate.release();
        const end = await thread.ended(held);
        expect(["completed", "failed"]).toContain(end.state);
        const text = thread.feed.fold.said(held.turnId);
        if (end.state === "completed") expect(text).toBe(held.said.text);
        else expect(held.said.text.startsWith(text)).toBe(true);
        await thread.feed.next("session.exited");
        await goesOn(stage, thread);
      },
    },
  ],
};
