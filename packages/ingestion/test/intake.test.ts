/** The boundary: anything may come, nothing throws, secrets go no further. */
import { mask } from "@tributary/domain";
import { describe, expect, it } from "vitest";
import { Budget } from "../src/worker/budget.ts";
import { undecodableMark } from "../src/interpret/undecodable.ts";
import { intake } from "../src/worker/intake.ts";
import { maskable } from "../src/worker/secrets.ts";
import { delta } from "./events.ts";

const take = (events: ReadonlyArray<unknown>, frame: unknown = { a: 1 }, secrets: ReadonlyArray<string> = []) =>
  intake(
    { kind: "frame", native: { kind: "k", frame }, events },
    { threadId: "T", generation: 1, secrets: maskable(secrets), at: 5 },
  );

describe("records", () => {
  it("become journal entries", () => {
    expect(take([delta("x")]).entry).toEqual({
      threadId: "T",
      generation: 1,
      seq: 0,
      kind: "frame",
      dir: "in",
      nativeKind: "k",
      frame: '{"a":1}',
      events: [delta("x")],
      at: 5,
    });
  });

  it("are weighed by what they hold", () => {
    const small = take([delta("x")]).bytes;
    expect(take([delta("x".repeat(10_000))]).bytes).toBe(small + 9_999);
    expect(take([delta("x")], "y".repeat(10_000)).bytes).toBeGreaterThan(10_000);
    expect(
      take([{ type: "notice", payload: { level: "info", code: "c", message: "m".repeat(5_000) } }]).bytes,
    ).toBeGreaterThan(5_000);
  });

  it("keep their frame whatever it is", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const frame of [Symbol("no JSON"), cycle, () => 1, 1n]) expect(take([], frame).entry.frame).toBe("null");
    expect(take([], "\ud800").entry.frame).toBe('"\\ud800"');
  });
});

describe("events that are none", () => {
  it.each<[string, unknown]>([
    ["a number", 5],
    ["null", null],
    ["no type", { payload: {} }],
    ["an unknown type", { type: "no.such", payload: {} }],
    ["a payload that does not fit", { type: "content.delta", payload: { stream: "assistant_text" } }],
    ["what is no JSON", { type: "item.started", itemId: "i", payload: { itemType: "tool", input: { big: 1n } } }],
  ])("%s: are kept as undecodable, with their problem", (_, event) => {
    const [kept] = take([event]).entry.events;
    const mark = undecodableMark(kept!);
    expect(mark?.problem).not.toBe("");
    expect(JSON.stringify(kept).length).toBeLessThan(4_096);
  });

  it("lose what no schema knows, and nothing else", () => {
    const [kept] = take([{ ...delta("x"), future: true, payload: { stream: "assistant_text", text: "x", more: 1 } }])
      .entry.events;
    expect(kept).toEqual(delta("x"));
  });
});

describe("secrets (I16)", () => {
  const secrets = ['s3cr3t"\n', "token-123", "token-123-long", "abc"];

  it("are masked in frames and events, whatever JSON makes of them", () => {
    const { frame, events } = take(
      [
        delta('see s3cr3t"\n here'),
        { type: "notice", payload: { level: "info", code: "c", message: "token-123-long" } },
      ],
      { env: { KEY: 's3cr3t"\n' }, "token-123": ["token-123"], n: 1 },
      secrets,
    ).entry;
    expect(JSON.parse(frame)).toEqual({ env: { KEY: mask }, [mask]: [mask], n: 1 });
    expect(events).toEqual([
      delta(`see ${mask} here`),
      { type: "notice", payload: { level: "info", code: "c", message: mask } },
    ]);
  });

  it("are masked in what could not be decoded", () => {
    const { events } = take([{ type: "nonsense token-123", payload: "token-123" }], {}, secrets).entry;
    expect(JSON.stringify(events)).not.toContain("token-123");
  });

  it("that are shorter than any secret spoil nothing", () => {
    expect(take([delta("abc")], "abc", secrets).entry).toMatchObject({ frame: '"abc"', events: [delta("abc")] });
  });

  it("never rename the fields of an event, only names in what is the runtime's own", () => {
    const failure = { class: "auth", message: "an error", retryable: false };
    const ended = { type: "turn.completed", turnId: "t", payload: { outcome: "failed", error: failure } };
    const item = { type: "item.started", itemId: "i", payload: { itemType: "tool", input: { error: "no error" } } };
    expect(take([ended, item], {}, ["error"]).entry.events).toEqual([
      { ...ended, payload: { outcome: "failed", error: { ...failure, message: `an ${mask}` } } },
      { ...item, payload: { itemType: "tool", input: { [mask]: `no ${mask}` } } },
    ]);
  });
});

describe("room for what waits", () => {
  it("is limited by thread and in all, but a record larger than that goes alone", () => {
    const budget = new Budget({ threadBytes: 10, totalBytes: 25 });
    expect(budget.tryTake("a", 99)).toBe(true);
    expect(budget.tryTake("b", 1)).toBe(false);
    budget.release("a", 99);
    expect(budget.tryTake("a", 6)).toBe(true);
    expect(budget.tryTake("a", 6)).toBe(false);
    expect(budget.tryTake("b", 10)).toBe(true);
    expect(budget.tryTake("c", 10)).toBe(false);
    expect(budget.bytes).toBe(16);
  });

  it("goes to those who wait longest, never past their own order, and a full thread holds up nobody else", () => {
    const budget = new Budget({ threadBytes: 10, totalBytes: 30 });
    const admitted: Array<string> = [];
    const wait = (threadId: string, bytes: number, name: string) =>
      budget.wait(threadId, bytes, () => admitted.push(name));
    budget.tryTake("a", 5);
    wait("a", 8, "a1");
    // There would be room for it, but another one of its thread came before.
    wait("a", 1, "a2");
    expect(budget.tryTake("a", 1)).toBe(false);
    expect(budget.tryTake("b", 10)).toBe(true);
    wait("b", 5, "b1");
    budget.release("b", 10);
    expect(admitted).toEqual(["b1"]);
    budget.release("a", 5);
    expect(admitted).toEqual(["b1", "a1", "a2"]);
  });

  it("is not waited for by who was interrupted", () => {
    const budget = new Budget({ threadBytes: 10, totalBytes: 30 });
    const admitted: Array<string> = [];
    budget.tryTake("a", 10);
    const stop = budget.wait("a", 10, () => admitted.push("first"));
    budget.wait("a", 5, () => admitted.push("second"));
    stop();
    budget.release("a", 10);
    expect(admitted).toEqual(["second"]);
    expect(budget.bytes).toBe(5);
  });
});
