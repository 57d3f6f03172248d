import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import type { RuntimeEvent } from "@tributary/contracts";
import { mockTexts as texts } from "@tributary/testkit";
import { describe, expect, it } from "vitest";
import { ignoredNotifications, ignoredRequests } from "../../src/codex/ignored.ts";
import { isKnownMethod } from "../../src/codex/translate.ts";
import { normalize, normalizeRecords } from "../../src/normalize.ts";
import { ofType } from "./frames.ts";

const folder = fileURLToPath(new URL("fixtures", import.meta.url));
const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ndjson"));
const read = (name: string): string => readFileSync(`${folder}/${name}`, "utf8");
const events = (name: string): ReadonlyArray<RuntimeEvent> => normalize("codex", read(name));

/** Text by item, less what was retracted, as people would read it. */
const messages = (all: ReadonlyArray<RuntimeEvent>, depth = 0): ReadonlyArray<string> => {
  const items = new Map<string, string>();
  for (const event of all) {
    if ((event.agentPath ?? []).length !== depth) continue;
    const key = `${event.turnId}/${event.itemId}`;
    if (event.type === "content.delta" && event.payload.stream === "assistant_text")
      items.set(key, (items.get(key) ?? "") + event.payload.text);
    if (event.type === "content.retracted") items.delete(key);
  }
  return [...items.values()];
};

describe.each(names)("%s", (name) => {
  const all = events(name);
  const records = [...normalizeRecords("codex", read(name))];

  it("makes events that fit their schemas, none of them unknown", () => {
    const wrong = all.map((event) => decodeRuntimeEvent(event)).filter(isUndecodable);
    expect(wrong).toEqual([]);
    expect(ofType(all, "unknown")).toEqual([]);
  });

  it("makes one record a frame, and says why a frame makes no event", () => {
    const frames = read(name)
      .trim()
      .split("\n")
      .filter((line) => /"dir":"(in|out)"/.test(line));
    expect(records.filter(({ record }) => record.native.kind !== "exit")).toHaveLength(frames.length);
    const silent = records.filter(
      ({ record }) => record.kind === "frame" && record.dir === "in" && record.events.length === 0,
    );
    expect(silent.map(({ record }) => record.native.kind).filter((kind) => !isKnownMethod(kind))).toEqual([]);
  });

  it("gives every event of an identity one id, the same every time", () => {
    const ids = all.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(events(name)).toEqual(all);
    for (const event of ofType(all, "content.delta"))
      if (event.payload.stream !== "reasoning_summary") expect(event.id).toBeUndefined();
  });

  it("ends every turn that started once, and starts none twice", () => {
    const startedTurns = ofType(all, "turn.started").map(({ turnId }) => turnId);
    const endedTurns = ofType(all, "turn.completed").map(({ turnId }) => turnId);
    expect(new Set(startedTurns).size).toBe(startedTurns.length);
    expect(new Set(endedTurns).size).toBe(endedTurns.length);
    // A process that was killed ends no turn.
    const wasKilled = all.some((event) => event.type === "session.exited" && event.payload.kind === "killed");
    if (!wasKilled) expect(endedTurns).toEqual(startedTurns);
  });

  it("settles or accounts for every item by the end of its turn", () => {
    const open = new Set<string>();
    for (const event of all) {
      const key = `${event.turnId}/${event.itemId}`;
      if (event.type === "item.started") open.add(key);
      if (event.type === "item.completed" || event.type === "content.retracted") open.delete(key);
      // A command that runs on is a task from then on.
      if (event.type === "task.started" && event.payload.itemId !== undefined)
        open.delete(`${event.turnId}/${event.payload.itemId}`);
      if (event.type !== "turn.completed") continue;
      const left = [...open].filter((each) => each.startsWith(`${event.turnId}/`));
      // What an interrupt or a failure left open is settled by the turn's end.
      if (event.payload.outcome === "completed") expect(left).toEqual([]);
    }
  });

  it("resolves every request that it opened, unless its process was killed", () => {
    const openedIds = ofType(all, "request.opened").map(({ requestId }) => requestId);
    const resolvedIds = ofType(all, "request.resolved").map(({ requestId }) => requestId);
    expect(new Set(openedIds).size).toBe(openedIds.length);
    expect(resolvedIds.toSorted()).toEqual(openedIds.toSorted());
  });

  it("says how its processes ended, last", () => {
    expect(all.at(-1)?.type).toBe("session.exited");
  });
});

describe("texts", () => {
  const after = "after it";
  it.each([
    ["text", [texts.plainText]],
    ["unicode", [texts.unicodeText]],
    ["empty", []],
    ["reasoning", [texts.afterReasoningText]],
    ["command-accept", [texts.beforeToolText, texts.afterToolText]],
    ["command-decline", [texts.beforeToolText, texts.afterToolText]],
    ["command-cancel", [texts.beforeToolText, after]],
    ["two-commands", [texts.beforeTwoToolsText, texts.afterToolText]],
    ["question", [texts.answeredText('{"answers":{"colour":{"answers":["Blue"]}}}')]],
    ["proposed-plan", []],
    ["subagent", [texts.beforeToolText, texts.afterToolText]],
    ["cut", [texts.plainText]],
    ["cut-always", [texts.plainText.slice(0, 30)]],
    ["interrupt-command", [texts.beforeToolText, after]],
    ["steer", [texts.beforeToolText, "started while it ran"]],
    ["given/text", ["Hello from the mock model."]],
    ["given/cut", ["This answer will be cut "]],
    ["given/write_approve", undefined],
  ] as const)("%s", (name, expected) => {
    const all = events(`${name}.ndjson`);
    if (expected !== undefined) expect(messages(all)).toEqual(expected);
    const streamed = new Map<string, string>();
    for (const event of ofType(all, "content.delta"))
      if (event.payload.stream === "assistant_text")
        streamed.set(
          `${event.turnId}/${event.itemId}`,
          (streamed.get(`${event.turnId}/${event.itemId}`) ?? "") + event.payload.text,
        );
    for (const { turnId, itemId, payload } of ofType(all, "item.completed"))
      if (payload.itemType === "assistant_message") expect(streamed.get(`${turnId}/${itemId}`)).toBe(payload.text);
  });

  it("takes back the first half of a cut stream before it tells the whole", () => {
    const kinds = events("cut.ndjson").flatMap(({ type }) =>
      ["content.retracted", "retry.scheduled", "turn.completed"].includes(type) ? [type] : [],
    );
    expect(kinds).toEqual(["content.retracted", "retry.scheduled", "turn.completed"]);
  });
});

describe("outcomes", () => {
  it.each([
    ["text", "completed", undefined],
    ["command-cancel", "interrupted", undefined],
    ["interrupt-text", "interrupted", undefined],
    ["interrupt-approval", "interrupted", undefined],
    ["compaction", "failed", "context_overflow"],
    ["cut-always", "failed", "transport"],
    ["error-401", "failed", "auth"],
    ["error-402", "failed", "quota"],
    ["error-404", "failed", "validation"],
    ["error-429", "failed", "rate_limit"],
    ["error-429-quota", "failed", "quota"],
    ["error-500", "failed", "provider"],
    ["error-503", "failed", "provider"],
    ["given/err429", "failed", "rate_limit"],
    ["given/err500", "failed", "provider"],
  ])("%s: %s %s", (name, outcome, failureClass) => {
    const [turn] = ofType(events(`${name}.ndjson`), "turn.completed");
    expect(turn?.payload.outcome).toBe(outcome);
    expect(turn?.payload.error?.class).toBe(failureClass);
  });
});

describe("the table of what makes no event", () => {
  it("gives a reason in words for each", () => {
    const mute = Object.entries({ ...ignoredNotifications, ...ignoredRequests }).filter(
      ([, reason]) => reason.length < 10,
    );
    expect(mute).toEqual([]);
  });
});
