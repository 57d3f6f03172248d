/** Design 4.11: no event grows beyond its cap, nothing cut ends inside a pair, diffs are never cut. */
import type { DomainPayloads, RuntimeEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { capError, capTail, cutJson, fit, headAndTail, jsonBytes, oversizedDiffs } from "../src/interpret/caps.ts";
import { diffBytes, errorBytes, payloadBytes } from "../src/limits.ts";
import { utf8Bytes } from "../src/text/utf16.ts";
import { exited, itemCompleted, itemStarted, requestOpened, turnStarted } from "./events.ts";
import { forSeeds, scrap } from "./random.ts";
import { World } from "./world.ts";

/** Whether a cut parted a pair that was whole before. */
const isPartOf = (text: string, piece: string): boolean => text.includes(piece);

describe("error strings", () => {
  it("of up to 4 KiB stay as they are", () => {
    for (const text of ["", "no", "x".repeat(errorBytes), "界".repeat(1_300)]) expect(capError(text)).toBe(text);
  });
  it("keep their beginning, a log its end, within 4 KiB and without parting a pair", () => {
    forSeeds(200, (random) => {
      const text = scrap(random, 3_000).repeat(3);
      const capped = capError(text);
      const tail = capTail(text);
      for (const cut of [capped, tail]) expect(utf8Bytes(cut)).toBeLessThanOrEqual(errorBytes);
      if (capped !== text) expect(text.startsWith(capped.slice(0, -1))).toBe(true);
      if (tail !== text) expect(text.endsWith(tail.slice(1))).toBe(true);
    });
    expect(
      capError(`${"x".repeat(4_090)}${"😀".repeat(99)}`)
        .slice(0, -1)
        .isWellFormed(),
    ).toBe(true);
    expect(capTail("😀".repeat(9_999)).isWellFormed()).toBe(true);
  });
  it("of any size", () => {
    expect(utf8Bytes(capError("x".repeat(9_000_000)))).toBeLessThanOrEqual(errorBytes);
    expect(utf8Bytes(capTail("x".repeat(9_000_000)))).toBeLessThanOrEqual(errorBytes);
  });
});

describe("large JSON", () => {
  it("fits, in its own shape where that is possible", () => {
    const long = { command: "ls", lines: ["a".repeat(90_000), "b"], nested: { text: "c".repeat(90_000) } };
    const cut = cutJson(long, 10_000) as typeof long;
    expect(jsonBytes(cut)).toBeLessThanOrEqual(10_000);
    expect(cut.command).toBe("ls");
    expect(cut.lines[1]).toBe("b");
    expect(cut.nested.text).toMatch(/^c+\n… \d+ code units left out …\nc+$/u);
  });
  it("whatever it is", () => {
    for (const value of [
      "\u0000".repeat(50_000),
      Array.from({ length: 50_000 }, (_, n) => n),
      { ["k".repeat(50_000)]: 1 },
    ])
      expect(jsonBytes(cutJson(value, 8_000))).toBeLessThanOrEqual(8_000);
    expect(
      jsonBytes(fit({ steps: Array.from({ length: 9_000 }, () => ({ text: "x".repeat(50) })) })),
    ).toBeLessThanOrEqual(payloadBytes);
  });
  it("says how much is left out", () => {
    const text = `${"h".repeat(50_000)}${"t".repeat(50_000)}`;
    const cut = headAndTail(text, 1_000);
    const [head = "", note = "", tail = ""] = cut.split("\n");
    expect(head.length + Number(/\d+/u.exec(note)?.[0]) + tail.length).toBe(text.length);
    expect(isPartOf(text, head) && isPartOf(text, tail)).toBe(true);
  });
});

const running = (): World => {
  const world = new World();
  world.feed(turnStarted());
  return world;
};

const payload = <T extends keyof DomainPayloads>(world: World, type: T): DomainPayloads[T] => {
  const event = world.log.findLast((each) => each.type === type);
  if (event === undefined) throw new Error(`no ${type}`);
  return event.payload as DomainPayloads[T];
};

describe("events in the log", () => {
  it("keep head and tail of tool data, its true size and the record with the whole", () => {
    const world = running();
    const output = Array.from({ length: 30_000 }, (_, n) => `line ${n}`).join("\n");
    world.feed(itemStarted("a", "tool", { title: "T", input: { query: "q" } }));
    world.feed(itemCompleted("a", "tool", { output, detail: "d" }));
    const ended = payload(world, "activity.ended");
    expect(jsonBytes(ended)).toBeLessThanOrEqual(payloadBytes);
    expect(ended.detail).toBe("d");
    expect(ended.output).toMatch(/^line 0\n/u);
    expect(ended.output).toMatch(/line 29999$/u);
    expect(ended.cut).toEqual([
      { field: "output", size: output.length, record: { threadId: "T", generation: 1, seq: 3 } },
    ]);
  });

  it("never carry more than fits, whatever is large in them", () => {
    const large = "😀\n".repeat(60_000);
    const events: ReadonlyArray<RuntimeEvent> = [
      itemStarted("a", "tool", { title: large, detail: large, input: { a: large, b: [large] }, output: large }),
      itemStarted("b", "tool", {
        locations: Array.from({ length: 20_000 }, (_, line) => ({ path: "/p/file.ts", line })),
      }),
      { type: "task.started", turnId: "t1", payload: { taskId: "k", kind: "subagent", title: large, summary: large } },
      { type: "turn.plan", turnId: "t1", payload: { steps: [{ text: large, status: "pending" }], explanation: large } },
      { type: "proposed_plan.completed", turnId: "t1", payload: { planId: "p", markdown: large } },
      { type: "notice", payload: { level: "error", code: "c", message: large, detail: large } },
      { type: "runtime.error", payload: { class: "unknown", message: large, retryable: true, fatal: false } },
      { type: "session.title", payload: { title: large } },
      {
        type: "session.configured",
        payload: { options: [{ id: "o", category: "other", label: large, value: large }] },
      },
      {
        type: "request.opened",
        turnId: "t1",
        requestId: "r",
        payload: { kind: "approval", title: "t", subject: { command: large, input: { large } }, options: [] },
      },
      {
        type: "request.opened",
        turnId: "t1",
        requestId: "q",
        payload: {
          kind: "user_input",
          questions: [{ id: "q", text: large, options: [], multiple: false, freeText: true }],
        },
      },
      {
        type: "turn.completed",
        turnId: "t1",
        payload: { outcome: "failed", error: { class: "provider", message: large, retryable: false } },
      },
      { ...exited, payload: { kind: "crash", recoverable: true, reason: large, stderrTail: large } } as RuntimeEvent,
    ];
    const world = running();
    for (const event of events) world.feed(event);
    expect(world.refusals).toEqual([]);
    for (const event of world.log) expect(jsonBytes(event.payload)).toBeLessThanOrEqual(payloadBytes);
    expect(payload(world, "request.opened").kind).toBe("user_input");
    expect(world.log.find(({ type }) => type === "request.opened")?.payload).toMatchObject({
      subject: { truncated: true },
    });
    expect(payload(world, "turn.ended").error?.message.length).toBeLessThanOrEqual(errorBytes);
    expect(utf8Bytes(payload(world, "session.exited").stderrTail ?? "")).toBeLessThanOrEqual(errorBytes);
  });

  it("hold a request's hash over what was asked as a whole", () => {
    const ask = (command: string): string => {
      const world = running();
      world.feed({ ...requestOpened(), payload: { kind: "approval", subject: { command } } } as RuntimeEvent);
      return payload(world, "request.opened").subjectHash;
    };
    const long = "x".repeat(200_000);
    expect(ask(`${long}a${long}`)).not.toBe(ask(`${long}b${long}`));
  });
});

describe("diffs", () => {
  const diff = (name: string, bytes: number) => ({ path: name, kind: "update", diff: name.repeat(bytes) }) as const;

  it("that fit stay where they are", () => expect(oversizedDiffs([diff("a", 10_000), diff("b", 10_000)])).toEqual([]));

  it("that do not fit are blobs, the largest first, and never cut", () => {
    const large = diff("b", 90_000);
    const changes = [diff("a", 10_000), large, diff("c", 20_000)];
    expect(oversizedDiffs(changes)).toEqual([large.diff]);
    const world = running();
    world.blobs.set("hash of b", large.diff);
    world.feed(itemCompleted("e", "file_change", { changes }));
    const written = payload(world, "activity.started").changes;
    expect(written?.map(({ diff: kept, blob }) => [kept?.length, blob])).toEqual([
      [10_000, undefined],
      [undefined, "hash of b"],
      [20_000, undefined],
    ]);
  });

  it("of a turn become a blob above the cap", () => {
    const world = running();
    const large = "+line\n".repeat(diffBytes);
    world.blobs.set("hash", large);
    world.feed({ type: "turn.diff", turnId: "t1", payload: { unifiedDiff: large } });
    world.drain();
    expect(payload(world, "turn.diff_updated")).toEqual({ turnId: "t1", blob: "hash", size: large.length });
  });
});
