/** What enters the log by age (4.4, 4.9), and when the next of it is due. */
import { updateDeadline, usageDeadline } from "./coalesce.ts";
import { flushPending } from "./enter.ts";
import type { Interpretation } from "./interpretation.ts";
import { textAgeMs } from "../limits.ts";
import type { Memory } from "./memory.ts";
import { isHeadReady } from "./output-window.ts";
import { flushOutput } from "./outputs.ts";
import type { Masker } from "../text/masking.ts";
import { isFlushable } from "../text/segments.ts";
import type { TextItem } from "../text/segments.ts";
import { end, flush, openInOrder } from "../text/text.ts";

/** Buffered text does not age; late text always does. */
const textDeadline = ({ open }: TextItem, streaming: boolean, masker: Masker | undefined): number => {
  if (open === undefined || open.held === 0) return Infinity;
  if (open.late) return open.since + textAgeMs;
  return streaming && isFlushable(open, masker) ? open.since + textAgeMs : Infinity;
};

/** When the next of what is held is due, in milliseconds; Infinity when nothing is. Costs what is open. */
export const nextDeadline = (memory: Memory, streaming: boolean): number => {
  let next = Infinity;
  for (const item of memory.open) next = Math.min(next, textDeadline(item, streaming, memory.masker));
  if (streaming)
    for (const window of memory.outputs.values())
      if (isHeadReady(window, memory.masker)) next = Math.min(next, window.since + textAgeMs);
  for (const row of memory.rows.values()) next = Math.min(next, updateDeadline(row));
  for (const usage of memory.usage.values()) next = Math.min(next, usageDeadline(usage));
  for (const diff of memory.diffs.values()) next = Math.min(next, usageDeadline(diff));
  return next;
};

/** Flushes what is due. */
export const flushDue = (it: Interpretation, streaming: boolean): void => {
  flushPending(it, (deadline) => deadline <= it.now);
  for (const item of openInOrder(it)) {
    if (textDeadline(item, streaming, it.memory.masker) > it.now) continue;
    if (item.open?.late === true) end(it, item);
    else flush(it, item);
  }
  if (!streaming) return;
  for (const window of it.memory.outputs.values())
    if (isHeadReady(window, it.memory.masker) && window.since + textAgeMs <= it.now) flushOutput(it, window);
};
