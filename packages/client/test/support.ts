/** Events and frames of tests, numbered as a log numbers them. */
import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import type { LiveText, PublicEvent } from "@tributary/contracts/api";
import type { Frame } from "../src/reducer/index.ts";

export const threadId = "T";

/** mulberry32: the same seed, the same run. */
export const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

export const below = (next: () => number, limit: number): number => Math.floor(next() * limit);

export interface Log {
  readonly frames: Array<Frame>;
  readonly add: <T extends DomainEventType>(type: T, payload: DomainPayloads[T]) => Frame;
  readonly sequence: () => number;
}

/** A thread's log, with other threads' events in between: sequences have gaps. */
export const makeLog = (): Log => {
  const frames: Array<Frame> = [];
  let sequence = 0;
  return {
    frames,
    sequence: () => sequence,
    add: (type, payload) => {
      sequence += frames.length % 3 === 0 ? 2 : 1;
      const data: PublicEvent = {
        cursor: `e:x.${sequence}`,
        sequence,
        streamId: threadId,
        type,
        occurredAt: new Date(Date.UTC(2026, 0, 1) + sequence * 1000).toISOString(),
        payload,
      };
      const frame: Frame = { event: "event", id: data.cursor, data };
      frames.push(frame);
      return frame;
    },
  };
};

export const created: DomainPayloads["thread.created"] = {
  projectId: "P",
  cwd: "/p",
  instance: "stub",
  approvalMode: "ask",
  interactionMode: "default",
  textDelivery: "streaming",
};

/** A thread in the middle of a turn. */
export const running = (): Log => {
  const log = makeLog();
  log.add("thread.created", created);
  log.add("input.queued", { inputId: "i", text: "go", delivery: "auto", mode: "prompt", origin: { kind: "user" } });
  log.add("input.handed_over", { inputId: "i", generation: 1, mode: "prompt" });
  log.add("turn.started", { turnId: "t", generation: 1, inputIds: ["i"], origin: "input" });
  log.add("input.started", { inputId: "i", turnId: "t", how: "started" });
  return log;
};

export const textStart = (itemId = "a", segment = 0) => ({
  turnId: "t",
  agentPath: [],
  itemId,
  segment,
  generation: 1,
});

export const live = (fields: Partial<LiveText> & Pick<LiveText, "offset" | "text">): Frame => ({
  event: "live",
  data: {
    threadId,
    rowId: "t//a#0",
    revision: 0,
    after: 0,
    turnId: "t",
    agentPath: [],
    itemId: "a",
    stream: "assistant_text",
    ...fields,
  },
});
