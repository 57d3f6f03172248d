import { assert, describe, it } from "@effect/vitest";
import { schemaVersion } from "@tributary/contracts";
import { fingerprint, StoreError } from "@tributary/store";
import { firstVersionAfter } from "../src/events/firstVersionAfter.ts";
import { upcast } from "../src/events/upcast.ts";
import { reasonOf, storeError } from "../src/StoreError.ts";
import { canonicalJson } from "../src/writer/canonical.ts";

describe("firstVersionAfter", () => {
  it("finds the place for every sequence, with few look-ups", () => {
    const sequences = Array.from({ length: 10_000 }, (_, index) => index * 3 + 2);
    for (const after of [0, 1, 2, 3, 14_999, 15_000, 29_990, 29_998, 29_999, 40_000]) {
      let lookUps = 0;
      const version = firstVersionAfter(after, sequences.length, (at) => {
        lookUps += 1;
        return sequences[at - 1] ?? 0;
      });
      const expected = sequences.findIndex((sequence) => sequence > after) + 1;
      assert.strictEqual(version, expected === 0 ? sequences.length + 1 : expected, `after ${after}`);
      assert.isAtMost(lookUps, 28);
    }
    assert.strictEqual(
      firstVersionAfter(5, 0, () => 0),
      1,
    );
  });
});

describe("canonical JSON", () => {
  it("does not depend on the order of fields or on absent ones", () => {
    const a = { b: [1, { d: null, c: "\ud800" }], a: undefined };
    assert.strictEqual(canonicalJson(a), '{"b":[1,{"c":"\\ud800","d":null}]}');
    assert.strictEqual(
      fingerprint({ commandId: "1", x: 1, y: 2 } as { commandId: string }),
      fingerprint({ y: 2, commandId: "2", x: 1 } as { commandId: string }),
    );
    assert.notStrictEqual(canonicalJson({ a: ["1"] }), canonicalJson({ a: [1] }));
    assert.notStrictEqual(canonicalJson({ a: [null] }), canonicalJson({ a: [] }));
  });
});

describe("upcast", () => {
  it("raises an old payload step by step, and leaves newer and unknown ones alone", () => {
    const known = { "thread.renamed": { [schemaVersion - 1]: (payload: unknown) => ({ raised: payload }) } };
    assert.deepStrictEqual(upcast("thread.renamed", schemaVersion - 1, { a: 1 }, known), {
      payload: { raised: { a: 1 } },
      schemaVersion,
    });
    assert.deepStrictEqual(upcast("thread.renamed", schemaVersion, { a: 1 }, known), {
      payload: { a: 1 },
      schemaVersion,
    });
    assert.deepStrictEqual(upcast("thread.renamed", 99, { a: 1 }, known), { payload: { a: 1 }, schemaVersion: 99 });
    assert.deepStrictEqual(upcast("unknown", 0, { a: 1 }, known), { payload: { a: 1 }, schemaVersion: 0 });
  });
});

describe("StoreError", () => {
  it("tells what SQLite and files say apart, also inside another error, and says what to do", () => {
    const of = (fields: object) => Object.assign(new Error("told"), fields);
    assert.strictEqual(reasonOf(of({ errcode: 13 })), "full");
    assert.strictEqual(reasonOf(of({ errcode: 10 | (3 << 8) })), "io");
    assert.strictEqual(reasonOf(of({ errcode: 11 })), "corrupt");
    assert.strictEqual(reasonOf(of({ errcode: 5 })), "locked");
    assert.strictEqual(reasonOf(of({ errcode: 19 })), "fault");
    assert.strictEqual(reasonOf(of({ code: "ENOSPC" })), "full");
    assert.strictEqual(reasonOf(new Error("outer", { cause: of({ errcode: 13 }) })), "full");
    assert.strictEqual(reasonOf(new TypeError("a bug")), "fault");
    assert.include(storeError("It failed", of({ errcode: 13 })).message, "It failed: told. Free disk space");
    const same = new StoreError({ reason: "closed", message: "x" });
    assert.strictEqual(storeError("It failed", same), same);
  });
});
