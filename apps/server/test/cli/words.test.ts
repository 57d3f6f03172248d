/** What is said to an agent: typed, or over standard input. */
import { Readable } from "node:stream";
import { Effect } from "effect";
import { assert, describe, it } from "vitest";
import { wordsOf } from "../../src/cli/words.ts";

const said = (typed: string, input: ReadonlyArray<string | Buffer> = [], attach: ReadonlyArray<string> = []) =>
  Effect.runPromise(wordsOf(typed, attach, Readable.from(input)));

describe("what is said", () => {
  it("is what was typed, or comes over standard input without the end of its last line", async () => {
    assert.strictEqual(await said("hello\n", ["unread"]), "hello\n");
    // A character that two pieces share.
    const [first, rest] = [Buffer.from("gr\u00fc\u00df").subarray(0, 3), Buffer.from("gr\u00fc\u00df").subarray(3)];
    assert.strictEqual(await said("-", [first, rest, Buffer.from("\n\n")]), "gr\u00fc\u00df\n");
    assert.strictEqual(await said("--"), "--");
  });

  it("is something, unless a file goes along", async () => {
    for (const [typed, input] of [
      ["", []],
      [" \n", []],
      ["-", ["\n"]],
    ] as const) {
      const error = await Effect.runPromise(Effect.flip(wordsOf(typed, [], Readable.from(input))));
      assert.deepInclude(error, { exitCode: 2, message: "There is nothing to say: the text is empty." });
      assert.strictEqual((await said(typed, input, ["a.png"])).trim(), "");
    }
  });
});
