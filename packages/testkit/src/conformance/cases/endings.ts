/** How sessions end, and how threads go on afterwards. */
import { expect } from "vitest";
import { refusal } from "../client/client.ts";
import type { CaseGroup, Facts, Stage } from "../case.ts";
import { needs, needsApprovals, needsServerProcess } from "../case.ts";
import type { Thread } from "../world/thread.ts";

/** The next turn runs in another generation of the same native session, and remembers what was before. */
const goesOn = async (stage: Stage, thread: Thread, generation: number, remembered: number): Promise<void> => {
  const { memory, text } = stage.prompts;
  const [first] = thread.feed.all("session.started");
  const turn = await thread.run(text);
  expect(turn.text).toBe(text.text);
  const { payload } = await thread.feed.next("session.started", (session) => session.generation === generation);
  expect(payload).toMatchObject({ resumed: true, nativeSessionId: first?.payload.nativeSessionId });
  if (memory !== undefined) expect(memory.count((await thread.run(memory)).text)).toBe(remembered + 2);
};

const needsResume = needs(({ resume }) => resume.survivesKill, "resuming of a killed session");

const whenKilled = (facts: Facts): string | undefined => needsServerProcess(facts) ?? needsResume(facts);

export const endings: CaseGroup = {
  name: "endings and resuming",
  cases: [
    {
      name: "release in the middle of a turn",
      process: true,
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInTool({ isStubborn: true });
        await thread.client.release(thread.id);
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        const { payload } = await thread.feed.next("session.released");
        expect(payload).toMatchObject({ generation: 1, reason: "asked" });
        await held.line.gone;
        await stage.world.noneLeft(thread.cwd);
        await goesOn(stage, thread, 2, 1);
      },
    },
    {
      name: "resume in a new server",
      process: true,
      fast: true,
      skip: needsServerProcess,
      run: async (stage) => {
        const [idle, running] = await Promise.all([stage.thread(), stage.thread()]);
        await idle.run(stage.prompts.says("before"));
        const tool = stage.facts.capabilities.approvals ? await running.holdInTool() : undefined;
        await stage.world.stopServer();
        // A server that ends well leaves nothing.
        expect(stage.world.processes()).toEqual([]);
        await tool?.line.gone;
        await stage.resume();
        await idle.feed.next("session.exited", ({ generation }) => generation === 1);
        if (tool !== undefined) expect(await running.ended(tool)).toMatchObject({ state: "interrupted" });
        await Promise.all([goesOn(stage, idle, 2, 1), ...(tool === undefined ? [] : [goesOn(stage, running, 2, 1)])]);
      },
    },
    {
      name: "resume after KILL of the server, in text, in a tool and in a request: survivors are ended first",
      fast: true,
      process: true,
      skip: (facts) => whenKilled(facts) ?? needsApprovals(facts),
      run: async (stage) => {
        const [writing, running, asking] = await Promise.all([stage.thread(), stage.thread(), stage.thread()]);
        const threads = [writing, running, asking];
        await Promise.all(threads.map((thread) => thread.run(stage.prompts.says("before"))));
        const [text, tool, asked] = await Promise.all([
          writing.holdInText(),
          running.holdInTool(),
          asking.holdInRequest(),
        ]);
        const queued = await writing.say(stage.prompts.says("queued").prompt, "queue");
        await stage.restart("kill");
        // Commands are taken: whatever outlived the old server must be gone by now.
        expect(stage.world.processes(), "survivors of the old server").toEqual([]);
        await tool.line.gone;

        expect(await writing.ended(text)).toMatchObject({ state: "lost" });
        // It was shown, so it was durable: nobody may see it vanish.
        expect(writing.feed.fold.said(text.turnId)).toBe(text.said.before);
        expect((await writing.page()).thread).toMatchObject({ queued: 1, queueHeld: "lost" });
        await writing.client.withdraw(writing.id, queued.inputId);

        expect(await running.ended(tool)).toMatchObject({ state: "lost" });

        const { requestId } = asked.request.payload;
        await asking.feed.next("request.expired", (expired) => expired.requestId === requestId);
        expect(await asking.ended(asked)).toMatchObject({ state: "lost" });
        expect(await asking.requestsIn("pending")).toEqual([]);

        await Promise.all(threads.map((thread) => goesOn(stage, thread, 2, 2)));
      },
    },
    {
      name: "delete in the middle of a turn",
      process: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInTool();
        await thread.client.remove(thread.id);
        await held.line.gone;
        await stage.world.noneLeft(thread.cwd);
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        await thread.feed.next("session.released", ({ reason }) => reason === "deleted");
        expect(thread.feed.fold.open, "still open in a deleted thread (I8)").toEqual([]);
        expect(await refusal(thread.say(stage.prompts.text.prompt))).toBe("thread_deleted");
        thread.isDeleted = true;
      },
    },
    {
      name: "a native session that is not there",
      run: async (stage) => {
        const { instance, nativeSessionId } = stage.driver.instances.lost;
        const thread = await stage.thread({ instance: instance.id, resume: { nativeSessionId } });
        const outcome = await thread.outcome(await thread.say(stage.prompts.text.prompt));
        expect(outcome.type).toBe("input.failed");
        const { payload } = await thread.feed.next("session.failed");
        expect(payload.error).toMatchObject({ retryable: false });
        expect(payload.error.message, "names the session").toContain(nativeSessionId);
        expect(thread.feed.all("session.started")).toEqual([]);
        expect(thread.feed.all("turn.started")).toEqual([]);
      },
    },
  ],
};
