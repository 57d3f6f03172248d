import type { LiveText } from "@tributary/contracts/api";
import { assert, describe, it } from "vitest";
import { liveFrames } from "../../src/http/live-text.ts";
import type { Sent } from "../../src/http/live-text.ts";

const open = (rowId: string, offset: number, text: string, revision = 0): LiveText => ({
  threadId: "T",
  rowId,
  revision,
  after: 1,
  agentPath: [],
  stream: "assistant_text",
  offset,
  text,
});

const pieces = (frames: ReadonlyArray<LiveText>) => frames.map(({ rowId, offset, text }) => [rowId, offset, text]);

/** mulberry32: the same seed, the same run. */
const random = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

describe("live text of one subscription", () => {
  it("is what is new since the last look", () => {
    const sent = new Map<string, Sent>();
    assert.deepStrictEqual(pieces(liveFrames([open("a", 0, "Hel")], sent)), [["a", 0, "Hel"]]);
    assert.deepStrictEqual(pieces(liveFrames([open("a", 0, "Hel")], sent)), []);
    assert.deepStrictEqual(pieces(liveFrames([open("a", 0, "Hello")], sent)), [["a", 3, "lo"]]);
    // The first three entered the log meanwhile.
    assert.deepStrictEqual(pieces(liveFrames([open("a", 3, "lo you")], sent)), [["a", 5, " you"]]);
    // All of it did, and more, while nobody looked.
    assert.deepStrictEqual(pieces(liveFrames([open("a", 40, "!")], sent)), [["a", 40, "!"]]);
  });

  it("begins anew with a raised revision, also with nothing", () => {
    const sent = new Map<string, Sent>();
    liveFrames([open("a", 0, "wrong")], sent);
    const [frame] = liveFrames([open("a", 0, "", 1)], sent);
    assert.deepInclude(frame, { revision: 1, offset: 0, text: "" });
    assert.deepStrictEqual(pieces(liveFrames([open("a", 0, "right", 1)], sent)), [["a", 0, "right"]]);
  });

  it("forgets rows that are closed", () => {
    const sent = new Map<string, Sent>();
    liveFrames([open("a", 0, "x"), open("b", 0, "y")], sent);
    liveFrames([open("b", 0, "y")], sent);
    assert.deepStrictEqual([...sent.keys()], ["b"]);
  });

  it("joined with the log is the text, however flushes and looks fall (I4)", () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const next = random(seed);
      const sent = new Map<string, Sent>();
      const whole = Array.from({ length: 60 }, () => String.fromCharCode(97 + Math.floor(next() * 26))).join("");
      let written = 0;
      let logged = 0;
      let shown = "";
      const show = (offset: number, text: string) => {
        assert.isAtMost(offset, shown.length, `a gap with seed ${seed}`);
        shown += text.slice(shown.length - offset);
      };
      while (logged < whole.length) {
        written = Math.min(whole.length, written + Math.floor(next() * 8));
        const before = logged;
        if (next() < 0.3) logged = written;
        if (next() < 0.6) {
          show(before, whole.slice(before, logged));
          for (const frame of liveFrames([open("a", logged, whole.slice(logged, written))], sent))
            show(frame.offset, frame.text);
          assert.strictEqual(shown, whole.slice(0, written), `with seed ${seed}`);
        } else if (logged > before) show(before, whole.slice(before, logged));
      }
      assert.strictEqual(shown, whole, `with seed ${seed}`);
    }
  });
});
