/** The engine with the real Claude Code: what it holds and has not read is asked back. */
import { afterwards, claudeDriver, Stage, World } from "@tributary/testkit/conformance";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programs, realServer } from "./conformance.ts";

describe("the engine with Claude Code", { timeout: 120_000 }, () => {
  const world = new World(realServer());
  let stage: Stage;

  beforeAll(async () => {
    const { claude } = await programs();
    const [driver] = await world.start([claudeDriver({ command: claude.path })]);
    const { installation } = await world.client.instance(driver!.instances.main.id);
    if (installation.capabilities === undefined) throw new Error(installation.problem);
    stage = new Stage(world, driver!, { capabilities: installation.capabilities, paths: [], isServerProcess: true });
  });
  afterAll(async () => {
    expect(await world.stop(), "what runs after the server (pain 23)").toEqual([]);
  });

  it("gives back a steer that it has not read; the turn goes on, and never hears of it (pain 21)", async () => {
    expect(stage.facts.capabilities).toMatchObject({ steer: true, queue: { withdraw: true } });
    const thread = await stage.thread();
    const held = await thread.holdInText();
    const steered = await thread.say(stage.prompts.says("never").prompt, "steer");
    await thread.feed.next("input.handed_over", ({ inputId }) => inputId === steered.inputId);
    await thread.client.withdraw(thread.id, steered.inputId);
    await thread.feed.next("input.withdrawn", ({ inputId }) => inputId === steered.inputId);
    held.gate.release();
    expect(await thread.ended(held)).toMatchObject({ state: "completed" });
    expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
    expect(thread.feed.fold.turns.begun).toBe(2);
    expect((await thread.page()).inputs).toEqual([]);
    await afterwards(thread);
  });
});
