import { assert, describe, it } from "vitest";
import { apply, committed, start, type Frame, type ThreadView } from "../src/reducer/index.ts";
import { below, live, random, running, textStart, threadId } from "./support.ts";

const texts = (view: ThreadView) =>
  view.rows.flatMap((row) => (row.kind === "message" && row.role === "assistant" ? row.text : []));

const from = (frames: ReadonlyArray<Frame>) => apply(start(threadId), frames);

describe("live text", () => {
  it("is shown before the log has any of it, and once when it does", () => {
    const log = running();
    let view = apply(from(log.frames), live({ offset: 0, text: "Hel" }));
    assert.deepStrictEqual(texts(view), ["Hel"]);
    assert.strictEqual(view.rows.at(-1)?.position, Number.MAX_SAFE_INTEGER);
    assert.lengthOf(committed(view)?.rows ?? [], 1);
    view = apply(view, live({ offset: 3, text: "lo" }));
    view = apply(
      view,
      log.add("message.appended", { messageId: "t//a#0", offset: 0, text: "Hell", start: textStart() }),
    );
    assert.deepStrictEqual(texts(view), ["Hello"]);
    view = apply(view, log.add("message.appended", { messageId: "t//a#0", offset: 4, text: "o" }));
    assert.deepStrictEqual(texts(view), ["Hello"]);
    view = apply(view, log.add("message.completed", { messageId: "t//a#0", length: 5 }));
    assert.deepInclude(view.rows.at(-1), { text: "Hello", length: 5, streaming: false });
  });

  it("that is known already changes nothing (L1)", () => {
    const log = running();
    log.add("message.appended", { messageId: "t//a#0", offset: 0, text: "Hello", start: textStart() });
    const view = from(log.frames);
    for (const frame of [
      live({ offset: 0, text: "Hel" }),
      live({ offset: 0, text: "Hello" }),
      live({ offset: 7, text: "?" }),
    ])
      assert.deepStrictEqual(texts(apply(view, frame)), ["Hello"]);
  });

  it("waits for the events that it stands on (L3)", () => {
    const log = running();
    const view = from(log.frames);
    const append = log.add("message.appended", { messageId: "t//a#0", offset: 0, text: "ab", start: textStart() });
    const frame = live({ offset: 2, text: "c", after: log.sequence() });
    const early = apply(view, frame);
    assert.deepStrictEqual(texts(early), []);
    assert.deepStrictEqual(texts(apply(early, append)), ["abc"]);
  });

  it("is forgotten with a raised revision, and an older one does not come back (L2)", () => {
    const log = running();
    let view = apply(from(log.frames), live({ offset: 0, text: "wrong" }));
    view = apply(view, live({ revision: 1, offset: 0, text: "" }));
    assert.deepStrictEqual(texts(view), []);
    view = apply(view, live({ revision: 0, offset: 0, text: "wrong" }));
    assert.deepStrictEqual(texts(view), []);
    view = apply(view, live({ revision: 1, offset: 0, text: "right" }));
    assert.deepStrictEqual(texts(view), ["right"]);
  });

  it("never outlives what it belongs to", () => {
    for (const end of ["retracted", "replaced", "turn", "exit", "synced"] as const) {
      const log = running();
      log.add("message.appended", { messageId: "t//a#0", offset: 0, text: "ab", start: textStart() });
      let view = apply(from(log.frames), live({ offset: 2, text: "cd" }));
      assert.deepStrictEqual(texts(view), ["abcd"]);
      if (end === "retracted") view = apply(view, log.add("message.retracted", { messageId: "t//a#0", reason: "cut" }));
      if (end === "replaced") view = apply(view, log.add("message.replaced", { messageId: "t//a#0", text: "xyz" }));
      if (end === "turn") view = apply(view, log.add("turn.ended", { turnId: "t", state: "completed" }));
      if (end === "exit")
        view = apply(view, log.add("session.exited", { generation: 1, kind: "crash", recoverable: true }));
      if (end === "synced") view = apply(view, { event: "synced", data: { sequence: log.sequence() } });
      const expected = { retracted: [], replaced: ["xyz"], turn: ["ab"], exit: ["ab"], synced: ["ab"] };
      assert.deepStrictEqual(texts(view), expected[end], end);
    }
  });

  it("of another server process begins with its own revisions after `synced` (L4)", () => {
    const log = running();
    let view = apply(from(log.frames), live({ revision: 7, offset: 0, text: "Hello" }));
    view = apply(view, [
      { event: "synced", data: { sequence: log.sequence() } },
      live({ revision: 0, offset: 0, text: "Hello you" }),
    ]);
    assert.deepStrictEqual(texts(view), ["Hello you"]);
  });

  it("of a command is a window: the head of the log, what was left out, and the end", () => {
    const log = running();
    const [activityId, itemId] = ["t//c", "c"];
    log.add("activity.started", { activityId, itemId, itemType: "command", turnId: "t", agentPath: [], generation: 1 });
    log.add("activity.updated", { activityId, commandOutput: { append: "head" } });
    const output = (view: ThreadView) => {
      const row = view.rows.at(-1);
      return row?.kind === "activity" ? row.commandOutput : undefined;
    };
    const command = { rowId: activityId, itemId, stream: "command_output" } as const;
    let view = apply(from(log.frames), live({ ...command, offset: 4, text: "more" }));
    assert.deepStrictEqual(output(view), { head: "headmore", omitted: 0, tail: "" });
    view = apply(view, live({ ...command, offset: 100, text: "the end" }));
    assert.deepStrictEqual(output(view), { head: "head", omitted: 96, tail: "the end" });
    view = apply(view, live({ ...command, offset: 107, text: "!" }));
    assert.deepStrictEqual(output(view), { head: "head", omitted: 96, tail: "the end!" });
    const ended = { tail: "d!", omitted: 102, size: 108 };
    view = apply(view, log.add("activity.ended", { activityId, status: "completed", commandOutput: ended }));
    assert.deepStrictEqual(output(view), { head: "head", ...ended });
  });

  it("joined with the log is the text, however flushes and cuts fall (I4, I10)", () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const next = random(seed);
      const whole = Array.from({ length: 80 }, () => String.fromCharCode(97 + below(next, 26))).join("");
      const log = running();
      let view = from(log.frames);
      let written = 0;
      let logged = 0;
      let sent = 0;
      while (logged < whole.length) {
        written = Math.min(whole.length, written + below(next, 9));
        if (next() < 0.3 && written > logged) {
          const text = whole.slice(logged, written);
          const begins = logged === 0 ? { start: textStart() } : {};
          view = apply(view, log.add("message.appended", { messageId: "t//a#0", offset: logged, text, ...begins }));
          logged = written;
        }
        if (next() < 0.2) {
          // A new connection: the log is known, open text comes whole.
          view = apply(view, { event: "synced", data: { sequence: log.sequence() } });
          sent = logged;
        }
        const offset = Math.max(sent, logged);
        if (written > offset)
          view = apply(view, live({ offset, text: whole.slice(offset, written), after: log.sequence() }));
        sent = written;
        assert.strictEqual(texts(view).join(""), whole.slice(0, written), `seed ${seed}`);
      }
    }
  });
});
