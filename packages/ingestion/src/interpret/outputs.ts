/** Command output on its way into the log: the head as it comes, the tail with the end of its activity. */
import { settleHeld } from "../accounts.ts";
import { enter } from "./enter.ts";
import type { Interpretation } from "./interpretation.ts";
import { closing, isHeadReady, outputIsFull, takeHead } from "./output-window.ts";
import type { OutputWindow } from "./output-window.ts";

/** Puts pending head into the log, one event's worth at a time. */
const flushHead = (it: Interpretation, window: OutputWindow, ending: boolean): void => {
  const seq = window.pendingSeq;
  const text = takeHead(window, ending);
  if (text === "") return;
  const { activityId } = window;
  const refusal = enter(it, { type: "activity.update", activityId, commandOutput: { append: text } });
  if (refusal === undefined) window.logged += text.length;
  const still = window.pendingUnits > 0 ? 1 : 0;
  settleHeld(it.memory.accounts, window.events - still, refusal);
  window.events = still;
  if (refusal !== undefined) it.note(seq, "content.delta", refusal);
};

/** Flushes what may enter the log while the output goes on. */
export const flushOutput = (it: Interpretation, window: OutputWindow): void => {
  while (isHeadReady(window)) flushHead(it, window, false);
};

/** The output of an activity that ends: its head is flushed; what is left goes with the end. */
export const endOutput = (
  it: Interpretation,
  activityId: string,
): { readonly commandOutput?: ReturnType<typeof closing> } => {
  const window = it.memory.outputs.get(activityId);
  if (window === undefined) return {};
  while (window.pendingUnits > 0) flushHead(it, window, true);
  it.memory.outputs.delete(activityId);
  return { commandOutput: closing(window) };
};

/** The output of an activity that others are about to end: the decider that settles it knows no output. */
export const settleOutput = (it: Interpretation, activityId: string): void => {
  const { commandOutput } = endOutput(it, activityId);
  if (commandOutput?.tail !== undefined) enter(it, { type: "activity.update", activityId, commandOutput });
};

/** Flushes what a full head must give. */
export const flushFullOutput = (it: Interpretation, window: OutputWindow): void => {
  while (outputIsFull(window)) flushHead(it, window, false);
};
