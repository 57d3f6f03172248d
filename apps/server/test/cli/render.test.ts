import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { assert, describe, it } from "vitest";
import { byRule } from "../../src/cli/answers.ts";
import type { Asked } from "../../src/cli/answers.ts";
import { oneLine, plainText } from "../../src/cli/output.ts";
import { makeRenderer } from "../../src/cli/render.ts";

const start = { agentPath: [], itemId: "i", segment: 0, generation: 1 };

const shown = (events: ReadonlyArray<DomainEvent>, inputs = false): string => {
  const renderer = makeRenderer({ inputs });
  const pieces = events.flatMap((one, index) =>
    renderer.event({ cursor: "e:1", sequence: index, streamId: "T", occurredAt: "", ...one }),
  );
  return pieces.map(({ to, text }) => (to === "text" ? text : `[${text.trim()}]`)).join("");
};

describe("what a terminal shows of a thread", () => {
  it("has each piece of text once, from live frames or from the log", () => {
    const renderer = makeRenderer({ inputs: false });
    const live = (offset: number, text: string) =>
      renderer.live({
        threadId: "T",
        rowId: "m",
        revision: 0,
        after: 1,
        agentPath: [],
        stream: "assistant_text",
        offset,
        text,
      });
    const append = (offset: number, text: string) =>
      renderer.event({
        cursor: "e:1",
        sequence: 1,
        streamId: "T",
        occurredAt: "",
        ...event("message.appended", { messageId: "m", offset, text, ...(offset === 0 ? { start } : {}) }),
      });
    const pieces = [live(0, "Hel"), live(3, "lo"), append(0, "Hello"), append(5, " you"), live(5, " you!")].flat();
    assert.strictEqual(pieces.map(({ text }) => text).join(""), "\nHello you!");
  });

  it("tells of tools, plans and what was taken back", () => {
    const text = shown([
      event("message.appended", { messageId: "m", offset: 0, text: "I run", start }),
      event("activity.started", {
        activityId: "a",
        itemId: "a",
        itemType: "command",
        agentPath: [],
        generation: 1,
        title: "make",
      }),
      event("activity.ended", { activityId: "a", status: "failed", exitCode: 2 }),
      event("message.retracted", { messageId: "m", reason: "retried" }),
    ]);
    assert.strictEqual(text, "\nI run[▸ make][✗ failed: make (exit 2)][(the agent took back what it wrote last)]");
  });

  it("tells what was asked and who answered what", () => {
    const opened = (requestId: string, title: string) =>
      event("request.opened", { requestId, agentPath: [], generation: 1, subjectHash: "h", kind: "approval", title });
    const text = shown([
      opened("r1", "Run make?"),
      opened("r2", "How?"),
      opened("r3", "Late?"),
      event("request.answered", {
        requestId: "r1",
        answer: { optionId: "allow" },
        by: { kind: "client", id: "device-1" },
        delivery: "confirmed",
      }),
      event("request.answered", {
        requestId: "r2",
        answer: { answers: { tone: "Short", also: ["a", "b"] } },
        by: { kind: "client", id: "owner" },
        delivery: "confirmed",
      }),
      event("request.expired", { requestId: "r3", reason: "interrupted" }),
    ]);
    assert.strictEqual(
      text,
      '[Run make? → allow (by device-1)][How? → Short, ["a","b"]][Late? → not answered: interrupted]',
    );
  });

  it("has what people said for who comes later", () => {
    const queued = event("input.queued", {
      inputId: "i",
      text: "one\ntwo",
      delivery: "prompt",
      mode: "prompt",
      origin: { kind: "user" },
    });
    const handed = event("input.handed_over", { inputId: "i", generation: 1, mode: "prompt" });
    assert.strictEqual(shown([queued, handed], true), "[> one\n> two]");
    assert.strictEqual(shown([queued, handed]), "");
  });
});

describe("text of agents", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007after", "after"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["a\u0008\u007f\u009b31mb\r\nc\td", "a31mb\nc\td"],
    ["é 😀 \u2028", "é 😀 \u2028"],
  ])("%j can't steer the terminal", (text, plain) => {
    assert.strictEqual(plainText(text), plain);
  });

  it("fits a line", () => {
    assert.strictEqual(oneLine("a\nb"), "a");
    assert.strictEqual(oneLine("x".repeat(20), 5), "xxxx…");
  });
});

describe("answers by rule", () => {
  const approval: Asked = {
    requestId: "r",
    agentPath: [],
    generation: 1,
    subjectHash: "h",
    kind: "approval",
    options: [
      { id: "always", label: "Always", effect: "allow", scope: "project" },
      { id: "session", label: "Session", effect: "allow", scope: "session" },
      { id: "once", label: "Once", effect: "allow", scope: "once" },
      { id: "no", label: "No", effect: "reject", scope: "once" },
    ],
  };

  it.each([
    ["all", "once"],
    ["session", "session"],
    ["none", "no"],
  ] as const)("--approve %s chooses %s", (approve, optionId) => {
    const answer = Effect.runSync(byRule(approve)(approval));
    assert.deepStrictEqual(answer, { optionId });
  });

  it("say what can't be answered here", () => {
    const form: Asked = { ...approval, kind: "user_input", options: [], form: {} };
    const error = Effect.runSync(Effect.flip(byRule("all")(form)));
    assert.match(error.message, /Open the thread in an app/);
  });
});
