import { fileURLToPath } from "node:url";
import {
  conformance,
  groups,
  perform,
  scriptedDriver,
  ServerAddress,
  serverLayer,
  Stage,
  World,
} from "@tributary/testkit/conformance";
import { Effect, Layer } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "./support/server.ts";

/** The server as a layer of this process. */
const embedded = serverLayer((dir) =>
  Layer.effect(
    ServerAddress,
    Effect.map(startServer({ data: dir, work: dir }), ({ url, token }) => ({ url, token })),
  ),
);
const driver = scriptedDriver({
  child: fileURLToPath(new URL("../../../packages/providers/src/scripted/child.ts", import.meta.url)),
});

describe("conformance of a server in this process", () => {
  conformance({ startServer: embedded, driver, only: ["inputs during a turn", "the wire"] });
});

describe("the conformance suite can fail", () => {
  const world = new World(embedded);
  let stage: () => Stage;

  beforeAll(async () => {
    const [main] = await world.start([driver]);
    const { installation } = await world.client.instance("main");
    if (main === undefined || installation.capabilities === undefined) throw new Error("no driver");
    const facts = { capabilities: installation.capabilities, paths: [], isServerProcess: false };
    stage = () => new Stage(world, main, facts, false);
  });
  afterAll(() => world.stop());

  const reasoning = groups.flatMap(({ cases }) => cases).find(({ name }) => name === "reasoning")!;
  const { thread: make } = Stage.prototype;

  it("passes what is right", () => perform(reasoning, stage()));

  it("a text that is not exact", async () => {
    const wrong = stage();
    const { reasoning: right } = wrong.prompts;
    const prompts = { ...wrong.prompts, reasoning: { ...right, text: `${right.text} ` } };
    Object.defineProperty(wrong, "prompts", { value: prompts });
    await expect(perform(reasoning, wrong)).rejects.toThrow(/expected/);
  });

  it("a thread that is still at work afterwards", async () => {
    const busy = stage();
    // Its release is lost, so its session, a turn and a message stay open.
    const run = async (): Promise<void> => {
      const thread = await make.call(busy);
      await thread.holdInText();
      Object.defineProperty(thread, "client", {
        value: Object.assign(Object.create(thread.client), { release: () => Promise.resolve() }),
      });
      Object.defineProperty(thread.feed.fold.sessions, "open", { value: [] });
    };
    await expect(perform({ name: "left at work", run }, busy)).rejects.toThrow(/I8/);
  });
});
