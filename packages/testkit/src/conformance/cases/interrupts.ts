/** A person can always stop (I9). */
import { expect } from "vitest";
import { refusal } from "../client/client.ts";
import type { CaseGroup } from "../case.ts";
import { needsApprovals } from "../case.ts";

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
        const held = await thread.holdInTool();
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
