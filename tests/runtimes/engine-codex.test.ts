/** The engine with the real Codex: stopping, dying, waiting, and two devices at once. */
import { codexDriver, Stage, Thread, World, afterwards } from "@tributary/testkit/conformance";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programs, realServer } from "./conformance.ts";

describe("the engine with Codex", { timeout: 120_000 }, () => {
  const world = new World(realServer());
  let stage: Stage;

  beforeAll(async () => {
    const { codex } = await programs();
    const [driver] = await world.start([codexDriver({ command: codex.path })]);
    const { installation } = await world.client.instance(driver!.instances.main.id);
    if (installation.capabilities === undefined) throw new Error(installation.problem);
    stage = new Stage(world, driver!, { capabilities: installation.capabilities, paths: [], isServerProcess: true });
  });
  afterAll(async () => {
    expect(await world.stop(), "what runs after the server (pain 23)").toEqual([]);
  });

  it("stops a shell command that ignores TERM; nothing of it is left (I9, pain 3, pain 23)", async () => {
    const thread = await stage.thread();
    const held = await thread.holdInTool({ isStubborn: true });
    const begun = performance.now();
    await thread.client.interrupt(thread.id, { turnId: held.turnId });
    expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
    // Natively, TERM, KILL: 5 + 2 + 1 s, and what a machine that does other things takes.
    expect(performance.now() - begun).toBeLessThan(20_000);
    await held.line.gone;
    expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
    await thread.client.release(thread.id);
    await world.noneLeft(thread.cwd);
    await afterwards(thread);
  });

  it("killed in the middle of a turn, with Codex still writing: the survivor is ended before the thread goes on (pain 1, pain 23)", async () => {
    const [writing, running] = await Promise.all([stage.thread(), stage.thread()]);
    await Promise.all([writing, running].map((thread) => thread.run(stage.prompts.says("before"))));
    const text = await writing.holdInText();
    const tool = await running.holdInTool({ isStubborn: true });
    // Codex goes when its stdin closes. One that is busy enough does not notice: these can't for now.
    const agents = [writing, running].map((thread) => thread.agent());
    for (const pid of agents) process.kill(pid, "SIGSTOP");
    await world.killServer();
    // The model goes on: whatever Codex makes of it, nobody hears.
    text.gate.release();
    const outliving = world.processes().map(({ pid }) => pid);
    for (const pid of agents) expect(outliving, "Codex outlives the server that is gone").toContain(pid);
    let isShellGone = false;
    void tool.line.gone.then(() => {
      isShellGone = true;
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    expect(isShellGone, "its shell does").toBe(false);
    await stage.resume();
    // Commands are taken: whatever outlived the old server must be gone by now.
    expect(world.processes(), "survivors of the old server").toEqual([]);
    await tool.line.gone;
    expect(await writing.ended(text)).toMatchObject({ state: "lost" });
    expect(await running.ended(tool)).toMatchObject({ state: "lost" });
    expect(writing.feed.fold.said(text.turnId), "what was shown, and nothing that nobody heard").toBe(text.said.before);
    for (const thread of [writing, running]) {
      expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      const [first, second] = thread.feed.all("session.started").map(({ payload }) => payload);
      expect(second).toMatchObject({ generation: 2, resumed: true, nativeSessionId: first?.nativeSessionId });
      await afterwards(thread);
    }
  });

  it("a queue of three inputs is there after a restart, in order, each taken once (pain 20, pain 21)", async () => {
    const thread = await stage.thread();
    const held = await thread.holdInText();
    const queued = [];
    for (const words of ["first", "second", "third"])
      queued.push(await thread.say(stage.prompts.says(words).prompt, "queue"));
    await stage.restart("kill");
    expect(await thread.ended(held)).toMatchObject({ state: "lost" });
    expect((await thread.page()).thread).toMatchObject({ queued: 3, queueHeld: "lost" });
    await thread.client.resumeQueue(thread.id);
    const texts: Array<string> = [];
    for (const sent of queued) texts.push(thread.feed.fold.said((await thread.ended(sent)).turnId));
    expect(texts).toEqual(["first", "second", "third"]);
    expect(thread.feed.all("input.handed_over").map(({ payload }) => payload.inputId)).toEqual([
      held.inputId,
      ...queued.map(({ inputId }) => inputId),
    ]);
    await afterwards(thread);
  });

  it("an approval that two clients answer at once is answered once, and both see by whom (I7, pain 9)", async () => {
    const phone = await stage.thread();
    const desk = new Thread(world, stage.driver, phone.id, phone.cwd);
    await desk.feed.connect(desk.client);
    for (let round = 0; round < 3; round += 1) {
      const from = phone.feed.events.length;
      const sent = await phone.say(stage.prompts.shell(`echo ${round} >> asked.txt`).prompt);
      const request = await phone.request(from);
      const { requestId } = request.payload;
      await desk.feed.next("request.opened", (opened) => opened.requestId === requestId);
      const answers = await Promise.allSettled([phone.choose(request, "allow"), desk.choose(request, "reject")]);
      const won = answers.filter(({ status }) => status === "fulfilled");
      expect(won, "answers that count").toHaveLength(1);
      const lost = answers.find((one): one is PromiseRejectedResult => one.status === "rejected");
      expect(lost?.reason).toMatchObject({ problem: { code: "already_answered" } });
      await phone.ended(sent);
      for (const device of [phone, desk]) {
        const { payload } = await device.feed.next("request.answered", (answered) => answered.requestId === requestId);
        expect(payload).toMatchObject({ delivery: "confirmed", by: { kind: "client" } });
      }
    }
    for (const device of [phone, desk]) {
      expect(device.feed.all("request.answering")).toHaveLength(3);
      expect(device.feed.all("request.answered")).toHaveLength(3);
    }
    await afterwards(phone);
  });
});
