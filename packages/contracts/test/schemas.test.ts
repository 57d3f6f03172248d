import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import {
  Answer,
  ClientCommand,
  commandSchemas,
  decodeRuntimeEvent,
  domainPayloads,
  Id,
  isUndecodable,
  runtimePayloads,
} from "../src/index.ts";
import { commandSamples, domainSamples, runtimeSamples } from "./samples.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Names of the fields that a schema demands, by leaving each out. */
const required = (decodes: (value: Fields) => boolean, sample: Fields): ReadonlyArray<string> =>
  Object.keys(sample).filter((key) => !decodes(without(sample, key)));

const without = (fields: Fields, key: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));

/** A value that no field of ours takes. */
const wrong = Symbol("wrong");

/** Fields that hold any JSON: every value fits. */
const anything = new Set(["input", "output", "form", "value"]);

const checkFields = (decodes: (value: Fields) => boolean, sample: Fields): void => {
  expect(decodes(sample)).toBe(true);
  // A newer field stops nothing (I18).
  expect(decodes({ ...sample, addedLater: 1 })).toBe(true);
  for (const key of Object.keys(sample).filter((name) => !anything.has(name)))
    expect({ [key]: decodes({ ...sample, [key]: wrong }) }).toEqual({ [key]: false });
};

const cases = <T extends string>(samples: Readonly<Record<T, Fields>>) => Object.entries<Fields>(samples);

describe("an id", () => {
  it.each(["a", "é", "😀", " ", "..", "a/b", "x".repeat(512)])("may be %j", (id) => {
    expect(Schema.is(Id)(id)).toBe(true);
  });

  // The last two would be one and the same in the store.
  it.each(["", "x".repeat(513), "a\u0000", "\u007f", "\ud800", "a\udc00b"])("may not be %j", (id) => {
    expect(Schema.is(Id)(id)).toBe(false);
  });
});

describe("an answer", () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let count = 0; count < depth; count += 1) value = count % 2 === 0 ? [value] : { a: value };
    return value;
  };
  const accepts = (value: unknown) => Schema.is(Answer)({ answers: { a: value } });

  it("holds any JSON that is not too deep to be compared and written", () => {
    for (const value of [null, "x", [1, { b: [] }], nested(256)]) expect(accepts(value)).toBe(true);
    for (const depth of [257, 100_000]) expect(accepts(nested(depth))).toBe(false);
  });
});

describe("canonical runtime events", () => {
  const decodes = (type: string) => (payload: Fields) => !isUndecodable(decodeRuntimeEvent({ type, payload }));

  it.each(cases(runtimeSamples))("%s", (type, sample) => {
    checkFields(decodes(type), sample);
    expect(decodeRuntimeEvent({ type, id: "e1", agentPath: ["a"], turnId: "t", payload: sample })).toMatchObject({
      type,
      id: "e1",
      agentPath: ["a"],
      payload: sample,
    });
  });

  it("has a sample of every type, and each type demands what it must", () => {
    expect(Object.keys(runtimeSamples).toSorted()).toEqual(Object.keys(runtimePayloads).toSorted());
    expect(required(decodes("content.delta"), runtimeSamples["content.delta"])).toEqual(["stream", "text"]);
    expect(required(decodes("usage.updated"), runtimeSamples["usage.updated"])).toEqual(["basis"]);
    expect(required(decodes("turn.completed"), runtimeSamples["turn.completed"])).toEqual(["outcome"]);
  });

  it.each([
    ["no object", null],
    ["a string", "content.delta"],
    ["no type", { payload: {} }],
    ["a type that nobody knows", { type: "quantum.entangled", payload: {} }],
    ["a name that every object has", { type: "constructor", payload: {} }],
    ["an empty id", { type: "unknown", id: "", payload: { kind: "k" } }],
    ["a control character in an id", { type: "unknown", turnId: "a\u0000b", payload: { kind: "k" } }],
    ["an id that is too long", { type: "unknown", itemId: "x".repeat(513), payload: { kind: "k" } }],
    [
      "an agent path that is too deep",
      { type: "unknown", agentPath: Array.from({ length: 17 }, () => "a"), payload: { kind: "k" } },
    ],
    ["a negative count", { type: "usage.updated", payload: { inputTokens: -1, basis: "turn" } }],
    ["a fraction of a token", { type: "usage.updated", payload: { inputTokens: 1.5, basis: "turn" } }],
    ["a time that is none", { type: "unknown", at: "yesterday", payload: { kind: "k" } }],
  ])("says what is wrong with %s, and never throws", (_, value) => {
    const decoded = decodeRuntimeEvent(value);
    expect(isUndecodable(decoded) && decoded.problem.length > 0).toBe(true);
  });
});

describe("stored events", () => {
  it.each(cases(domainSamples))("%s", (type, sample) => {
    checkFields(Schema.is(domainPayloads[type as keyof typeof domainPayloads] as Schema.Codec<unknown>), sample);
  });

  it("has a sample of every type", () => {
    expect(Object.keys(domainSamples).toSorted()).toEqual(Object.keys(domainPayloads).toSorted());
  });
});

describe("client commands", () => {
  const decodes = Schema.is(ClientCommand);

  it.each(cases(commandSamples))("%s", (type, sample) => {
    checkFields((fields) => decodes({ type, ...fields }), sample);
    expect(
      Schema.is(commandSchemas[type as keyof typeof commandSchemas] as Schema.Codec<unknown>)({ type, ...sample }),
    ).toBe(true);
  });

  it.each([
    ["an internal command", { type: "turn.start", turnId: "t", generation: 1 }],
    ["no command id", { type: "thread.archive", threadId: "T" }],
    ["a text over 1 MiB", { type: "input.submit", ...commandSamples["input.submit"], text: "x".repeat(1_048_577) }],
    ["an answer of neither kind", { type: "request.answer", ...commandSamples["request.answer"], answer: {} }],
  ])("refuses %s", (_, value) => {
    expect(decodes(value)).toBe(false);
  });
});
