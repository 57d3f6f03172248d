/** Design 4.2: the interpretive state is small, and brings the memory back exactly. */
import { describe, expect, it } from "vitest";
import { encodeMemory } from "../src/checkpoint/interpretive-state.ts";
import { neededAfter, restoreMemory, savedAccounts } from "../src/checkpoint/restore.ts";
import { heldText } from "../src/text/segments.ts";
import { delta, itemStarted, itemUpdated, requestOpened, turnStarted } from "./events.ts";
import { threadId, World } from "./world.ts";

const running = (): World => {
  const world = new World({ textDelivery: "buffered" });
  world.feed(turnStarted());
  return world;
};

const checkpointNow = (world: World) => {
  world.act(() => undefined);
  if (world.checkpoint === undefined) throw new Error("no checkpoint");
  return world.checkpoint;
};

describe("records that were dealt with", () => {
  it("are not interpreted again, whoever hands them over", () => {
    const world = running();
    world.feed(delta("Hello"), { type: "notice", payload: { level: "info", code: "c", message: "m" } });
    world.feedAs(7, delta("old"));
    const { length } = world.log;
    const refused = world.refusals.length;
    world.again();
    expect(world.log.length).toBe(length);
    expect(world.refusals.length).toBe(refused);
    expect(world.books().accounted).toBe(world.books().journal);
  });
});

describe("the interpretive state", () => {
  it("holds no text, and does not grow with it", () => {
    const sizes = [10, 1_000, 20_000].map((deltas) => {
      const world = running();
      for (let n = 0; n < deltas; n += 1) world.feed(delta("some secret text "));
      const { interpretive } = checkpointNow(world);
      expect(interpretive).not.toContain("secret");
      return interpretive.length;
    });
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(200);
  });

  it("follows what is open, not what was", () => {
    const world = running();
    for (let n = 0; n < 600; n += 1) {
      world.feed(delta("text", { itemId: `i${n}` }));
      world.feed(itemStarted(`tool${n}`, "command"));
      world.feed({ type: "item.completed", turnId: "t1", itemId: `i${n}`, payload: { itemType: "assistant_message" } });
      world.feed({ type: "item.completed", turnId: "t1", itemId: `tool${n}`, payload: { itemType: "command" } });
    }
    expect(checkpointNow(world).interpretive.length).toBeLessThan(5_000);
  });

  it("names the first held unit: between flushes, inside a record, after a question", () => {
    const world = running();
    world.feed(delta("flushed "), requestOpened(), delta("held"));
    world.feed(delta(" text"));
    world.feed(itemUpdated("tool", "tool", { title: "x" }));
    world.feed(delta("\ud83d"));
    const { memory } = world.holder;
    const [item] = memory.open;
    expect(item?.open).toMatchObject({ firstSeq: 5, skip: 0, held: 1 });
    world.crash();
    const [restored] = world.holder.memory.open;
    expect(heldText(restored!.open!)).toBe("\ud83d");
    world.feed(delta("\ude00"));
    world.drain();
    world.settle();
    expect(world.textOf("t1//m")).toBe("flushed held text😀");
  });

  it("does not read a refused record's text again", () => {
    const world = running();
    world.feed(delta("good "));
    world.feed(delta("poisoned "));
    world.feed(delta("good again"));
    const { memory } = world.holder;
    const checkpoint = { ...checkpointNow(world) };
    memory.refusedRecords.push(3);
    const [item] = memory.open;
    item!.open!.held -= "poisoned ".length;
    const interpretive = encodeMemory(memory);
    const restored = restoreMemory(threadId, { ...checkpoint, interpretive }, world.read(1), 0);
    expect([...restored.open].map(({ open }) => heldText(open!))).toEqual(["good good again"]);
  });

  it("says up to where the journal may be pruned: never past what is held", () => {
    const world = running();
    world.feed(delta("flushed "), requestOpened());
    expect(neededAfter(checkpointNow(world), 1)).toBe(2);
    world.feed(delta("held"));
    for (let n = 0; n < 10; n += 1) world.feed({ type: "unknown", payload: { kind: "noise" } });
    expect(neededAfter(checkpointNow(world), 1)).toBe(2);
    world.settle();
    expect(neededAfter(checkpointNow(world), 1)).toBe(13);
    expect(neededAfter(checkpointNow(world), 2)).toBe(0);
  });

  it("that this build cannot read loses what was held, and nothing else", () => {
    const world = running();
    world.feed(delta("held"));
    const checkpoint = checkpointNow(world);
    for (const interpretive of ["", "null", "{}", '{"v":99}', "[1]"]) {
      const memory = restoreMemory(threadId, { ...checkpoint, interpretive }, world.read(1), 0);
      expect(memory).toMatchObject({ generation: 1, seq: checkpoint.seq });
      expect(memory.open.size).toBe(0);
      expect(savedAccounts(interpretive).applied).toBe(0);
    }
  });
});
