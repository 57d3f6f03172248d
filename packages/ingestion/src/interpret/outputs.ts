/** Command output on its way into the log: the head as it comes, the tail with the end of its activity. */
import { settleHeld } from "../accounts.ts";
import { enter } from "./enter.ts";
import type { Interpretation } from "./interpretation.ts";
import { maskedBy } from "../text/masking.ts";
import { closing, isHeadReady, joinUndecided, outputIsFull, takeHead } from "./output-window.ts";
import type { OutputWindow } from "./output-window.ts";

/** Puts pending head into the log, one event's worth at a time. */
const flushHead = (it: Interpretation, window: OutputWindow, ending: boolean): void => {
  const seq = window.pendingSeq;
  const { masker } = it.memory;
  const taken = takeHead(window, ending, masker);
  if (taken === "") return;
  const text = maskedBy(masker, taken);
  const { activityId } = window;
  const refusal = enter(it, { type: "activity.update", activityId, commandOutput: { append: text } });
  if (refusal === undefined) {
    window.logged += text.length;
    window.taken += taken.length;
  }
  const still = window.pendingUnits > 0 ? 1 : 0;
  const left = window.events - still;
  settleHeld(it.memory.accounts, left, refusal);
  window.events = still;
  if (refusal !== undefined && left > 0) it.note(seq, "content.delta", refusal, left);
};

/** Flushes what may enter the log while the output goes on. */
export const flushOutput = (it: Interpretation, window: OutputWindow): void => {
  while (isHeadReady(window, it.memory.masker)) flushHead(it, window, false);
};

/** The output of an activity that ends: its head is flushed; what is left goes with the end. */
export const endOutput = (
  it: Interpretation,
  activityId: string,
): { readonly commandOutput?: ReturnType<typeof closing> } => {
  const window = it.memory.outputs.get(activityId);
  if (window === undefined) return {};
  const { masker } = it.memory;
  if (masker !== undefined) joinUndecided(window, masker);
  while (window.pendingUnits > 0) flushHead(it, window, true);
  it.memory.outputs.delete(activityId);
  return { commandOutput: closing(window, masker) };
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
