/** Live text (4.4): what people may see before the log has it. Records were durable before any of it got here. */
import type { LiveText } from "@tributary/contracts/api";
import type { Lane } from "./lane.ts";
import type { OutputWindow } from "../interpret/output-window.ts";
import { unlogged } from "../interpret/output-window.ts";
import { defined } from "../plain.ts";
import { shownText } from "../text/segments.ts";
import type { TextItem } from "../text/segments.ts";
import { textId } from "../text/text-items.ts";

/** The key of `Signals` that is touched when a thread's live text changes. */
export const liveKey = (threadId: string): string => `live:${threadId}`;

const streams = { message: "assistant_text", full: "reasoning", summary: "reasoning_summary" } as const;

const textFrame = (lane: Lane, item: TextItem): ReadonlyArray<LiveText> => {
  const { open } = item;
  // Whitespace makes no row yet. After a retraction the row stands empty, so that nobody goes on showing what it was.
  const { masker } = lane.memory;
  const text = open === undefined ? "" : shownText(open, masker);
  const isShown = open !== undefined && (open.number !== undefined || (!open.blank && text !== ""));
  if (!isShown && item.revision === 0) return [];
  const { turnId, agentPath, itemId } = item;
  const number = open?.number ?? item.nextNumber;
  return [
    {
      threadId: lane.threadId,
      rowId: textId(item, number),
      revision: lane.revisions + item.revision,
      after: lane.after,
      ...defined({ turnId }),
      agentPath,
      itemId,
      stream: streams[item.kind],
      offset: open?.committed ?? 0,
      text: isShown ? text : "",
    },
  ];
};

const outputFrame = (lane: Lane, window: OutputWindow): LiveText => {
  const { activityId: rowId, turnId, agentPath, itemId } = window;
  const { threadId, after, revisions: revision } = lane;
  const stream = "command_output";
  return {
    threadId,
    rowId,
    revision,
    after,
    ...defined({ turnId }),
    agentPath,
    itemId,
    stream,
    ...unlogged(window, lane.memory.masker),
  };
};

/** Open text of a thread now: each row from where the log ends. */
export const liveTexts = (lane: Lane): ReadonlyArray<LiveText> => [
  ...[...lane.memory.items.values()].flatMap((item) => textFrame(lane, item)),
  ...[...lane.memory.outputs.values()].map((window) => outputFrame(lane, window)),
];

/** The highest revision of any row: what a rebuilt memory must count from. */
export const highestRevision = (lane: Lane): number =>
  Math.max(0, ...[...lane.memory.items.values()].map((item) => item.revision));
