import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { claudeTranslator } from "../../src/claude/translate.ts";
import { at, framesOf, type Native, nativeOf, recordingNames, Story } from "./recordings.ts";

/** The process was killed in a turn: what was open stays open, and ends with the session. */
const killed = new Set(["killed"]);

/** The conversation was cleared, and its costs with it. */
const cleared = new Set(["slash-commands"]);

describe.each(recordingNames)("%s", (name) => {
  const story = Story.of(name);

  it("gives a record for every frame, and events that fit their schemas", () => {
    const frames = framesOf(name);
    const translate = claudeTranslator.start({ generation: 1 });
    for (const frame of frames) expect(translate(frame)).toHaveLength(1);
    expect(story.events.map(decodeRuntimeEvent).filter(isUndecodable)).toEqual([]);
  });

  it("knows every frame", () => {
    expect(story.payloads("unknown")).toEqual([]);
  });

  it("gives each event an id of its own, the same ones every time, and none to deltas", () => {
    const ids = story.events.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Story.of(name).records).toEqual(story.records);
    expect(story.all("content.delta").filter(({ id }) => id !== undefined)).toEqual([]);
  });

  it("streams exactly what the whole blocks say, and leaves nothing that was given up", () => {
    const streamed = new Map<string, string>();
    for (const { itemId = "", payload } of story.all("content.delta"))
      streamed.set(itemId, (streamed.get(itemId) ?? "") + payload.text);
    for (const { itemId = "" } of story.all("content.retracted")) streamed.delete(itemId);
    for (const { itemId = "", payload } of story.all("item.completed")) {
      if (!streamed.has(itemId)) continue;
      expect(streamed.get(itemId)).toBe(payload.text);
      streamed.delete(itemId);
    }
    if (!killed.has(name)) expect([...streamed.keys()]).toEqual([]);
  });

  it("says each text of the runtime once", () => {
    const said = nativeOf(name, "assistant")
      .filter((frame) => frame["error"] === undefined && frame["parent_tool_use_id"] === null)
      .flatMap((frame) => at(frame, "message", "content") as ReadonlyArray<Native>)
      .flatMap((block) => (block["type"] === "text" ? [block["text"] as string] : []));
    if (!killed.has(name)) expect(story.messages()).toEqual(said);
    const last = nativeOf(name, "result").findLast((result) => result["is_error"] === false && result["result"] !== "");
    if (last !== undefined) expect(story.messages()).toContain(last["result"]);
  });

  it("ends every turn once", () => {
    const begun = story.all("turn.started").map(({ turnId }) => turnId);
    const ended = story.all("turn.completed").map(({ turnId }) => turnId);
    expect(new Set(begun).size).toBe(begun.length);
    if (!killed.has(name)) expect(ended).toEqual(begun);
    const inTurns = story.events.flatMap(({ turnId }) => turnId ?? []);
    expect(inTurns.filter((turnId) => !begun.includes(turnId))).toEqual([]);
  });

  it("settles every request, and ends every tool call", () => {
    const asked = story.all("request.opened").map(({ requestId }) => requestId);
    expect(story.all("request.resolved").map(({ requestId }) => requestId)).toEqual(asked);
    const begun = new Set(story.all("item.started").map(({ itemId }) => itemId));
    for (const type of ["item.completed", "content.retracted"] as const)
      for (const { itemId } of story.all(type)) begun.delete(itemId);
    if (!killed.has(name)) expect([...begun]).toEqual([]);
    const tasks = story.payloads("task.started").map(({ taskId }) => taskId);
    expect(story.payloads("task.completed").map(({ taskId }) => taskId)).toEqual(tasks);
  });

  it("counts no cost twice", () => {
    const totals = nativeOf(name, "result").map((result) => result["total_cost_usd"] as number);
    const since = nativeOf(name, "result").flatMap((result) =>
      Object.values((result["model_usage_since_last_result"] ?? {}) as Native),
    );
    const costs = story.payloads("turn.completed").map(({ costUsd = 0 }) => costUsd);
    const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0);
    expect(sum(costs)).toBeCloseTo(sum(since.map((usage) => at(usage, "costUSD") as number)), 9);
    if (cleared.has(name) || name.endsWith("resume") || name === "repeated-uuid") return;
    expect(sum(costs)).toBeCloseTo(totals.at(-1) ?? 0, 9);
  });
});

it("reads every recording", () => {
  expect(recordingNames.length).toBeGreaterThan(60);
});
