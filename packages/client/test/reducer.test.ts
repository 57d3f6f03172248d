import { assert, describe, it } from "vitest";
import {
  apply,
  committed,
  open,
  prepend,
  start,
  type Frame,
  type Page,
  type PublicEvent,
  type ThreadView,
} from "../src/reducer/index.ts";
import { below, created, live, makeLog, random, running, textStart, threadId, type Log } from "./support.ts";

const from = (frames: ReadonlyArray<Frame>) => apply(start(threadId), frames);
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
const eventOf = (frame: Frame | undefined): PublicEvent => frame?.data as PublicEvent;

/** A random turn of every kind of row. Ids count on, so that rows are told apart. */
const randomTurn = (log: Log, next: () => number, turn: number): void => {
  const turnId = `t${turn}`;
  log.add("turn.started", { turnId, generation: 1, inputIds: [], origin: "runtime" });
  const open: Array<() => void> = [];
  for (let item = 0; item < 6; item += 1) {
    const [itemId, agentPath] = [`${turn}.${item}`, next() < 0.2 ? ["child"] : []];
    const place = { turnId, agentPath, generation: 1 };
    const begin = below(next, 7);
    if (begin === 0) {
      log.add("message.appended", {
        messageId: itemId,
        offset: 0,
        text: "ab",
        start: { ...place, itemId, segment: 0 },
      });
      open.push(() => log.add("message.appended", { messageId: itemId, offset: 2, text: "c" }));
      const fate = below(next, 3);
      if (fate === 0) open.push(() => log.add("message.retracted", { messageId: itemId, reason: "cut" }));
      if (fate === 1) open.push(() => log.add("message.replaced", { messageId: itemId, text: "whole" }));
      if (fate !== 0) open.push(() => log.add("message.completed", { messageId: itemId, length: 3 }));
    } else if (begin === 1) {
      log.add("activity.started", { ...place, activityId: itemId, itemId, itemType: "file_change" });
      const changes = [{ path: `f${below(next, 3)}`, kind: "update", diff: "@@ -1 +1 @@\n-a\n+b\n" }] as const;
      open.push(() => log.add("activity.ended", { activityId: itemId, status: "completed", changes }));
    } else if (begin === 2) {
      log.add("task.started", { ...place, taskId: itemId, kind: "background" });
      open.push(() => log.add("task.ended", { taskId: itemId, status: "completed", summary: "done" }));
    } else if (begin === 3) {
      log.add("request.opened", { ...place, requestId: itemId, subjectHash: "h", kind: "approval", title: "May I?" });
      open.push(() =>
        log.add("request.answering", {
          requestId: itemId,
          answer: { optionId: "y" },
          by: { kind: "client", id: "phone" },
        }),
      );
      open.push(() => log.add("request.answered", { requestId: itemId, delivery: "confirmed" }));
    } else if (begin === 4)
      log.add("usage.recorded", { turnId, agentPath, basis: "turn", inputTokens: item, contextTokens: 1 });
    else if (begin === 5)
      log.add("notice.recorded", { noticeId: itemId, turnId, level: "info", code: "n", message: "m" });
    else log.add("turn.diff_updated", { turnId, unifiedDiff: `--- a\n+++ a\n@@ -1 +1 @@\n-${item}\n+b\n`, size: 30 });
    if (next() < 0.5) open.shift()?.();
  }
  for (const end of open) end();
  log.add("turn.ended", { turnId, state: next() < 0.8 ? "completed" : "failed" });
};

const randomLog = (next: () => number, turns: number): Log => {
  const log = makeLog();
  log.add("thread.created", created);
  log.add("session.opening", { generation: 1 });
  for (let turn = 0; turn < turns; turn += 1) randomTurn(log, next, turn);
  return log;
};

/** What is compared: the turns of a page are those of its rows. */
const shown = (view: ThreadView) => {
  const page = committed(view);
  return json(page === undefined ? undefined : { ...page, sequence: 0, before: undefined });
};

describe("the reducer", () => {
  it("skips what it does not know: types, frames, and other threads (I18)", () => {
    const { frames } = running();
    const view = from(frames);
    const sequence = view.sequence;
    const strange = { ...eventOf(frames.at(-1)), sequence: sequence + 1, type: "thing.happened", payload: { a: 1 } };
    const later = apply(view, [
      { event: "event", data: strange },
      { event: "event", data: { ...strange, sequence: sequence + 2, type: "activity.happened", payload: null } },
      { event: "telegram", data: {} } as unknown as Frame,
      { event: "event", data: { ...strange, sequence: sequence + 3, streamId: "another", type: "thread.deleted" } },
    ]);
    assert.strictEqual(later.sequence, sequence + 2);
    assert.deepStrictEqual(later.rows, view.rows);
    assert.isFalse(later.deleted);
  });

  it("takes each event once, however often it comes (pain 10)", () => {
    const log = running();
    log.add("message.appended", { messageId: "m", offset: 0, text: "ab", start: textStart() });
    log.add("message.appended", { messageId: "m", offset: 2, text: "cd" });
    const once = from(log.frames);
    const thrice = apply(apply(once, log.frames), log.frames.slice(3));
    assert.deepStrictEqual(shown(thrice), shown(once));
    assert.deepInclude(once.rows.at(-1), { text: "abcd", length: 4 });
  });

  it("changes no view that was made before, whichever way the log goes on from it", () => {
    const log = running();
    const base = from(log.frames);
    const before = json(committed(base));
    const event = log.add("message.appended", { messageId: "m", offset: 0, text: "ab", start: textStart() });
    const [one, two] = [apply(base, event), apply(base, event)];
    apply(one, log.add("message.retracted", { messageId: "m", reason: "cut" }));
    assert.deepStrictEqual(json(committed(base)), before);
    assert.deepStrictEqual(shown(one), shown(two));
    assert.lengthOf(one.rows, 2);
  });

  it("keeps rows that did not change, and copies little for one that did (I12)", () => {
    const log = makeLog();
    log.add("thread.created", created);
    for (let turn = 0; turn < 400; turn += 1) randomTurn(log, random(turn), turn);
    log.add("message.appended", { messageId: "m", offset: 0, text: "a", start: textStart() });
    const view = from(log.frames);
    assert.isAbove(view.rows.length, 1000);
    const next = apply(view, log.add("message.appended", { messageId: "m", offset: 1, text: "b" }));
    const chunks = next.state.timeline.chunks;
    const copied = chunks.filter((chunk, index) => chunk !== view.state.timeline.chunks[index]);
    assert.lengthOf(copied, 1);
    assert.isAtMost(copied[0]?.length ?? 0, 128);
    assert.lengthOf(
      next.rows.filter((row, index) => row !== view.rows[index]),
      1,
    );
    assert.strictEqual(apply(next, live({ offset: 0, text: "x" })).rows[5], view.rows[5]);
  });

  it("says the same from any snapshot, with or without repeats (I10)", () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const next = random(seed);
      const { frames } = randomLog(next, 3);
      const whole = from(frames);
      let view = start(threadId);
      for (const [index, frame] of frames.entries()) {
        view = apply(view, frame);
        const page = json(committed(view)) as Page;
        const rest = frames.slice(Math.max(0, index + 1 - below(next, 4)));
        assert.deepStrictEqual(shown(apply(open(page), rest)), shown(whole), `seed ${seed}, joined at ${index}`);
      }
    }
  });

  it("with live text of this and that says in the end what the log says", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const next = random(seed);
      const { frames } = randomLog(next, 3);
      let view = start(threadId);
      for (const frame of frames) {
        view = apply(view, frame);
        if (next() < 0.4)
          view = apply(
            view,
            live({
              rowId: `${below(next, 3)}.${below(next, 6)}`,
              turnId: `t${below(next, 3)}`,
              revision: below(next, 3),
              offset: below(next, 4),
              after: view.sequence + below(next, 6),
              text: "xyz".slice(below(next, 3)),
              stream: next() < 0.7 ? "assistant_text" : "command_output",
            }),
          );
      }
      assert.deepStrictEqual(shown(view), shown(from(frames)), `seed ${seed}`);
    }
  });

  it("puts older rows before the others, though the thread went on meanwhile", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const next = random(seed);
      const { frames } = randomLog(next, 4);
      const whole = from(frames);
      const cut = 4 + below(next, frames.length - 4);
      const snapshot = json(committed(from(frames.slice(0, cut)))) as Page;
      // The newest page has some rows; the older one is read before or after this view's place in the log.
      const some = below(next, snapshot.rows.length + 1);
      const newest = { ...snapshot, rows: snapshot.rows.slice(some), before: "b" };
      const askedAt = Math.min(frames.length, cut + below(next, 8));
      const answered = Math.min(frames.length, askedAt + below(next, 8));
      const readAt = cut + below(next, answered - cut + 8);
      const at = json(committed(from(frames.slice(0, Math.min(frames.length, readAt))))) as Page;
      const first = newest.rows[0]?.position ?? Number.MAX_SAFE_INTEGER;
      const page = { ...at, rows: at.rows.filter(({ position }) => position < first) };
      delete (page as { before?: string }).before;
      const view = apply(open(newest), frames.slice(cut, answered));
      const since = frames.slice(cut, answered).map(eventOf);
      const joined = apply(prepend(view, page, since), frames.slice(answered));
      assert.deepStrictEqual(json(committed(joined)?.rows), json(committed(whole)?.rows), `seed ${seed}`);
      assert.isUndefined(joined.before);
    }
  });

  it("adds nothing twice to an older row that was read at a later time than the others", () => {
    const log = running();
    log.add("message.appended", { messageId: "m", offset: 0, text: "ab", start: textStart() });
    log.add("notice.recorded", { noticeId: "n", turnId: "t", level: "info", code: "n", message: "m" });
    const snapshot = committed(from(log.frames)) as Page;
    const append = log.add("message.appended", { messageId: "m", offset: 2, text: "cd" });
    const older = committed(from(log.frames)) as Page;
    const more = log.add("message.appended", { messageId: "m", offset: 4, text: "ef" });
    // The page of older rows has the append; the view, which has only the notice so far, hears of it afterwards.
    const view = prepend(open({ ...snapshot, rows: snapshot.rows.slice(-1) }), {
      ...older,
      rows: older.rows.slice(0, -1),
    });
    const [, message] = apply(view, [append, more]).rows;
    assert.deepInclude(message, { rowId: "m", text: "abcdef", length: 6 });
  });
});
