/** Seeded histories of a few threads, with everything that a thread can hold. */
import { itemKey, messageId } from "@tributary/contracts";
import { beginTurn, endTurn, openSession, root, startActivity, type History } from "./history.ts";

export type Random = () => number;

/** mulberry32 */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export const below = (random: Random, n: number): number => Math.floor(random() * n);

export const pick = <A>(random: Random, from: ReadonlyArray<A>): A => {
  const found = from[below(random, from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
};

const alphabet = ["a", "b", " ", "\n", "é", "漢", "🙂", "👩‍💻", "\u0000", "\u0010", "\ud83d", "\ude42", '"'];

export const randomText = (random: Random, most: number): string =>
  Array.from({ length: below(random, most) }, () => pick(random, alphabet)).join("");

/** One turn of a thread: a prompt, then a mix of all kinds of rows, then an end. */
export const randomTurn = (history: History, random: Random, threadId: string, turnId: string): void => {
  const inputId = `in-${turnId}`;
  beginTurn(history, threadId, inputId, turnId, randomText(random, 40));
  const steps = 1 + below(random, 8);
  for (let step = 0; step < steps; step++) randomStep(history, random, threadId, turnId, `i${step}`);
  const state = pick(random, ["completed", "completed", "failed", "interrupted"] as const);
  endTurn(history, threadId, inputId, turnId, {
    state,
    ...(state === "failed"
      ? { error: { class: "provider" as const, message: randomText(random, 30), retryable: true } }
      : {}),
  });
};

const randomStep = (history: History, random: Random, threadId: string, turnId: string, itemId: string): void => {
  const steps: ReadonlyArray<() => void> = [
    () => randomMessage(history, random, threadId, turnId, itemId),
    () => randomMessage(history, random, threadId, turnId, itemId),
    () => {
      const reasoningId = `${itemKey(turnId, root, itemId)}#r0`;
      const text = randomText(random, 60);
      history.add(threadId, "reasoning.appended", {
        reasoningId,
        kind: "full",
        offset: 0,
        text,
        start: { turnId, agentPath: root, itemId, segment: 0, generation: 1 },
      });
      history.add(threadId, "reasoning.completed", { reasoningId, length: text.length });
    },
    () => {
      const activityId = startActivity(history, threadId, turnId, itemId, { title: randomText(random, 20) });
      for (let n = below(random, 4); n > 0; n--)
        history.add(threadId, "activity.updated", { activityId, commandOutput: { append: randomText(random, 50) } });
      history.add(threadId, "activity.ended", {
        activityId,
        status: pick(random, ["completed", "failed"] as const),
        output: { text: randomText(random, 40) },
        commandOutput: { tail: randomText(random, 20), omitted: 3, size: 100 },
      });
    },
    () => {
      const activityId = startActivity(history, threadId, turnId, itemId, { itemType: "file_change" });
      history.add(threadId, "activity.ended", {
        activityId,
        status: "completed",
        changes: [{ path: `f${below(random, 3)}`, kind: "update", diff: "@@ -1 +1,2 @@\n-a\n+b\n+c" }],
      });
    },
    () => {
      const requestId = `${turnId}-${itemId}`;
      history.add(threadId, "request.opened", {
        requestId,
        turnId,
        agentPath: root,
        generation: 1,
        subjectHash: "h",
        kind: "approval",
        title: randomText(random, 20),
      });
      const by = { kind: "client" as const, id: "phone" };
      const answer = { optionId: "yes" };
      if (random() < 0.3) history.add(threadId, "request.withdrawn", { requestId, reason: "turn_interrupted" });
      else {
        history.add(threadId, "request.answering", { requestId, answer, by });
        history.add(threadId, "request.answered", { requestId, answer, by, delivery: "confirmed" });
      }
    },
    () => {
      const taskId = `${turnId}-${itemId}`;
      history.add(threadId, "task.started", { taskId, kind: "subagent", turnId, agentPath: root, generation: 1 });
      history.add(threadId, "task.ended", { taskId, status: "completed", summary: randomText(random, 20) });
    },
    () =>
      history.add(threadId, "usage.recorded", {
        turnId,
        agentPath: root,
        basis: pick(random, ["turn", "session"] as const),
        inputTokens: below(random, 1000),
        contextTokens: below(random, 1000),
      }),
    () =>
      history.add(threadId, "notice.recorded", {
        noticeId: `n:${turnId}-${itemId}`,
        level: "info",
        code: "note",
        message: randomText(random, 20),
      }),
    () =>
      history.add(threadId, "turn.plan_updated", {
        turnId,
        agentPath: root,
        steps: [{ text: randomText(random, 10), status: "pending" }],
      }),
    () =>
      history.add(threadId, "plan.proposed", {
        planId: `p-${turnId}-${itemId}`,
        turnId,
        agentPath: root,
        markdown: randomText(random, 40),
      }),
  ];
  pick(random, steps)();
};

const randomMessage = (history: History, random: Random, threadId: string, turnId: string, itemId: string): void => {
  const id = messageId(turnId, root, itemId, 0);
  const pieces = 1 + below(random, 5);
  let offset = 0;
  for (let piece = 0; piece < pieces; piece++) {
    const text = randomText(random, 30);
    const start = piece === 0 ? { turnId, agentPath: root, itemId, segment: 0, generation: 1 } : undefined;
    history.add(threadId, "message.appended", {
      messageId: id,
      offset,
      text,
      ...(start === undefined ? {} : { start }),
    });
    offset += text.length;
  }
  const fate = random();
  if (fate < 0.1) {
    history.add(threadId, "message.retracted", { messageId: id, reason: "retried" });
    return;
  }
  if (fate < 0.3) {
    const text = randomText(random, 60);
    history.add(threadId, "message.replaced", { messageId: id, text });
    offset = text.length;
  }
  history.add(threadId, "message.completed", { messageId: id, length: offset });
  if (fate > 0.9) history.add(threadId, "message.appended", { messageId: id, offset, text: "late" });
};

/** Several threads taking turns. */
export const randomHistory = (
  history: History,
  random: Random,
  threads: number,
  turns: number,
): ReadonlyArray<string> => {
  const ids = Array.from({ length: threads }, (_, n) => `T${n}`);
  for (const id of ids) {
    history.thread(id, { title: randomText(random, 10) });
    openSession(history, id);
  }
  for (let turn = 0; turn < turns; turn++) randomTurn(history, random, pick(random, ids), `t${turn}`);
  return ids;
};
