/** A person can always stop (I9). */
import { expect } from "vitest";
import { ProblemError, refusal } from "../client/client.ts";
import type { CaseGroup } from "../case.ts";
import { needs, needsApprovals } from "../case.ts";
import type { Sent } from "../world/thread.ts";

export const interrupts: CaseGroup = {
  name: "interrupt",
  cases: [
    {
      name: "in text",
      fast: true,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInText();
        await thread.client.interrupt(thread.id, { turnId: held.turnId });
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        expect(thread.feed.fold.said(held.turnId)).toBe(held.said.before);
        held.gate.release();
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "in a tool: its shell is gone",
      process: true,
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInTool({ isStubborn: true });
        await thread.client.interrupt(thread.id);
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        await held.line.gone;
        const ended = thread.feed.all("activity.ended").map(({ payload }) => payload.status);
        expect(ended).not.toContain("completed");
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "in a request",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInRequest();
        await thread.client.interrupt(thread.id, { turnId: held.turnId });
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        const { requestId } = held.request.payload;
        await thread.feed.next("request.withdrawn", (withdrawn) => withdrawn.requestId === requestId);
        expect(await refusal(thread.choose(held.request, "allow"))).toBe("request_expired");
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "in a sub-agent's tool: its shell is gone",
      process: true,
      skip: (facts) =>
        needsApprovals(facts) ??
        needs(({ attribution }) => attribution === "attributed" || attribution === "nested", "attribution")(facts),
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInTool({ inSubAgent: true });
        await thread.client.interrupt(thread.id, { turnId: held.turnId });
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        await held.line.gone;
        const { payload: task } = await thread.feed.next("task.ended");
        expect(task.status).toBe("interrupted");
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "right after sending",
      run: async (stage) => {
        const thread = await stage.thread();
        const handedOver = (sent: Sent) =>
          thread.feed.next("input.handed_over", ({ inputId }) => inputId === sent.inputId);
        // Before there is a session, then at each step of a prompt's way.
        const moments = [() => undefined, () => undefined, handedOver, (sent: Sent) => thread.turnOf(sent)];
        for (const moment of moments) {
          const sent = await thread.say(stage.prompts.text.prompt);
          const { inputId } = sent;
          await moment(sent);
          // It may be over already; else it stops, at whatever it was.
          await thread.client.interrupt(thread.id, { inputId }).catch((error: unknown) => {
            if (!(error instanceof ProblemError)) throw error;
            expect(error.problem.code).toBe("no_active_turn");
          });
          await thread.feed.until("an end of the input", () =>
            thread.feed.events.find(
              ({ type, payload }) =>
                (type === "input.done" || type === "input.withdrawn" || type === "input.unconfirmed") &&
                payload.inputId === inputId,
            ),
          );
          expect(thread.feed.all("input.unconfirmed")).toEqual([]);
          expect((await thread.page()).thread.activeTurnId).toBeUndefined();
          if (moment === moments[0]) await thread.run(stage.prompts.text);
        }
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "twice, and once more when it is over",
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInText();
        const { turnId } = held;
        const [first, again] = await Promise.all([
          thread.client.interrupt(thread.id, { turnId }, "the same"),
          thread.client.interrupt(thread.id, { turnId }, "the same"),
          // One that comes when the turn is over already is refused; both are fine.
          thread.client.interrupt(thread.id, { turnId }).catch(() => undefined),
        ]);
        expect(again).toEqual(first);
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        expect(await thread.client.interrupt(thread.id, { turnId }, "the same")).toEqual(first);
        expect(await refusal(thread.client.interrupt(thread.id, { turnId }))).toBe("no_active_turn");
        expect(thread.feed.all("turn.ended")).toHaveLength(1);
        expect(thread.feed.all("interrupt.requested")).toHaveLength(1);
      },
    },
  ],
};
