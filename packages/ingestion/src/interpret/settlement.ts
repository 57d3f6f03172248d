/**
 * What ingestion puts into the log before a turn or a session is settled (4.10): held text, the ends of command output.
 * The decider then ends what is open, in the same step.
 */
import { isLive } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { worksInBackground } from "../guard/background.ts";
import type { Interpretation } from "./interpretation.ts";
import type { OutputWindow } from "./output-window.ts";
import { flushOutput, settleOutput } from "./outputs.ts";
import type { TextItem } from "../text/segments.ts";
import { end, endQuietly, flush, openInOrder } from "../text/text.ts";
import { forgetOld } from "../text/text-items.ts";

const endItems = (it: Interpretation, which: (item: TextItem) => boolean): void => {
  for (const item of openInOrder(it)) if (which(item)) endQuietly(it, item);
  forgetOld(it.memory);
};

/** A turn is about to be over. What runs in the background lives on; its text goes on in another segment. */
export const settleTurn = (it: Interpretation, turnId: string): void => {
  endItems(it, (item) => item.turnId === turnId);
  const state = it.state();
  const livesOn = ({ agentPath }: OutputWindow): boolean => state !== undefined && worksInBackground(state, agentPath);
  for (const window of it.memory.outputs.values())
    if (window.turnId === turnId && !livesOn(window)) settleOutput(it, window.activityId);
};

/** The session is about to be over, or its process is gone: nothing stays held. */
export const settleEverything = (it: Interpretation): void => {
  endItems(it, () => true);
  for (const { activityId } of it.memory.outputs.values()) settleOutput(it, activityId);
  const { plans, accounts } = it.memory;
  for (const { planId, events } of plans.values()) {
    plans.delete(planId);
    accounts.held -= events;
    accounts.folded += events;
  }
};

const turnGoesOn = (state: ThreadState, { turnId, agentPath }: TextItem): boolean =>
  turnId === undefined || turnId === state.turn?.turnId || worksInBackground(state, agentPath);

/** Whether somebody else — a client, the engine — ended what is open here. */
export const isSettledElsewhere = (it: Pick<Interpretation, "memory" | "state">): boolean => {
  const { open, outputs, generation } = it.memory;
  if (open.size + outputs.size === 0) return false;
  const state = it.state();
  if (state === undefined || state.session?.generation !== generation || !isLive(state)) return true;
  for (const item of open) if (item.open?.late !== true && !turnGoesOn(state, item)) return true;
  return false;
};

/** Finalises what somebody else ended: its text is late text of that turn, and stays closed. */
export const followSettlement = (it: Interpretation): void => {
  if (!isSettledElsewhere(it)) return;
  const state = it.state();
  if (state === undefined || state.session?.generation !== it.memory.generation || !isLive(state)) {
    settleEverything(it);
    return;
  }
  endItems(it, (item) => item.open?.late !== true && !turnGoesOn(state, item));
};

/** Flushes all that may enter the log while everything goes on: an interrupt, a drain, a shutdown. */
export const flushEverything = (it: Interpretation): void => {
  for (const item of openInOrder(it))
    if (item.open?.late === true) end(it, item);
    else flush(it, item);
  for (const window of it.memory.outputs.values()) flushOutput(it, window);
};
