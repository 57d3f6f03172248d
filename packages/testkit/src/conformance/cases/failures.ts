/** What the model service refuses or breaks off ends the turn as failed, says why, and the thread goes on. */
import { expect } from "vitest";
import type { Case, CaseGroup } from "../case.ts";
import { failures as classes, type FailureName } from "../driver.ts";

const names = Object.keys(classes) as ReadonlyArray<FailureName>;

const failing = (name: FailureName): Case => ({
  name,
  ...(name === "context overflow" || name === "402" ? { fast: true as const } : {}),
  run: async (stage) => {
    const thread = await stage.thread();
    const turn = await thread.run({ prompt: stage.prompts.fails[name] });
    expect(turn.end.state).toBe("failed");
    expect(turn.end.error?.class).toBe(classes[name]);
    expect(turn.end.error?.message).not.toBe("");
    expect((await thread.page()).thread.lastTurn).toMatchObject({ state: "failed", error: { class: classes[name] } });
    expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
  },
});

export const failures: CaseGroup = {
  name: "failures",
  cases: [
    ...names.map(failing),
    {
      name: "no key",
      run: async (stage) => {
        const thread = await stage.thread({ instance: stage.driver.instances.keyless.id });
        const outcome = await thread.outcome(await thread.say(stage.prompts.text.prompt));
        expect(["turn.ended", "input.failed"]).toContain(outcome.type);
        expect(outcome.payload).toMatchObject({ error: { class: "auth" } });
      },
    },
  ],
};
