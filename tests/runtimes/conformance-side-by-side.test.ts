import { claudeDriver, codexDriver, restartServer, Stage, World, afterwards } from "@tributary/testkit/conformance";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programs, realServer } from "./conformance.ts";

describe("Codex and Claude Code side by side", () => {
  const world = new World(realServer());
  let stages: ReadonlyArray<Stage>;

  beforeAll(async () => {
    const { codex, claude } = await programs();
    const drivers = await world.start([codexDriver({ command: codex.path }), claudeDriver({ command: claude.path })]);
    stages = await Promise.all(
      drivers.map(async (driver) => {
        const { installation } = await world.client.instance(driver.instances.main.id);
        if (installation.capabilities === undefined) throw new Error(installation.problem);
        const facts = { capabilities: installation.capabilities, paths: [], isServerProcess: true };
        return new Stage(world, driver, facts);
      }),
    );
  });
  afterAll(() => world.stop());

  it("both in the middle of a turn when the server is killed: both are settled, and go on where they were", async () => {
    const threads = await Promise.all(stages.map((stage) => stage.thread()));
    await Promise.all(threads.map((thread) => thread.run(thread.driver.prompts.says("before"))));
    const held = await Promise.all(threads.map((thread) => thread.holdInText()));
    expect(new Set(world.processes().map(({ cwd }) => cwd)).size, "both are at work").toBe(2);
    await restartServer(world, threads, "kill");
    expect(world.processes(), "survivors of the old server").toEqual([]);

    for (const [index, thread] of threads.entries()) {
      const turn = held[index]!;
      expect(await thread.ended(turn)).toMatchObject({ state: "lost" });
      // It was shown, so it was durable: nobody may see it vanish.
      expect(thread.feed.fold.said(turn.turnId)).toBe(turn.said.before);
    }
    // Both at once again, in the new server.
    const texts = await Promise.all(threads.map((thread) => thread.run(thread.driver.prompts.text)));
    const memories = await Promise.all(threads.map((thread) => thread.run(thread.driver.prompts.memory!)));
    for (const [index, thread] of threads.entries()) {
      const { prompts } = thread.driver;
      expect(texts[index]?.text).toBe(prompts.text.text);
      expect(prompts.memory?.count(memories[index]?.text ?? ""), "user messages that it remembers").toBe(4);
      const [first, second] = thread.feed.all("session.started").map(({ payload }) => payload);
      expect(second).toMatchObject({ generation: 2, resumed: true, nativeSessionId: first?.nativeSessionId });
      await afterwards(thread);
    }
  }, 120_000);
});
