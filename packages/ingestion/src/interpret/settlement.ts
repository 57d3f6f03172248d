/**
 * What ingestion puts into the log before a turn or a session is settled (4.10): held text, the ends of command output.
 * The decider then ends what is open, in the same step.
 */
import { isLive } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { worksInBackground } from "../guard/background.ts";
import { flushPending } from "./enter.ts";
import type { Interpretation } from "./interpretation.ts";
import type { Memory } from "./memory.ts";
import type { OutputWindow } from "./output-window.ts";
import { flushOutput, settleOutput } from "./outputs.ts";
import { forgetPlans } from "./plans.ts";
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

const endOutputs = (it: Interpretation): void => {
  for (const { activityId } of it.memory.outputs.values()) settleOutput(it, activityId);
};

/** The session is about to be over, or its process is gone: nothing stays held. */
export const settleEverything = (it: Interpretation): void => {
  flushPending(it);
  endItems(it, () => true);
  endOutputs(it);
  forgetPlans(it);
};

/** Late text is of a turn that is over already: nobody else ends it, it ends by age. */
const isLate = ({ open }: TextItem): boolean => open?.late === true;

/** Whether this session is the thread's current one, and goes on. */
const sessionGoesOn = ({ generation }: Memory, state: ThreadState | undefined): state is ThreadState =>
  state !== undefined && !state.deleted && state.session?.generation === generation && isLive(state);

const turnGoesOn = (state: ThreadState, { turnId, agentPath }: TextItem): boolean =>
  turnId === undefined || turnId === state.turn?.turnId || worksInBackground(state, agentPath);

/** Whether somebody else — a client, the engine — ended what is open here. */
export const isSettledElsewhere = ({ memory, state: now }: Pick<Interpretation, "memory" | "state">): boolean => {
  const { open, outputs } = memory;
  if (open.size + outputs.size === 0) return false;
  const state = now();
  const goesOn = sessionGoesOn(memory, state);
  if (!goesOn && outputs.size > 0) return true;
  for (const item of open) if (!isLate(item) && !(goesOn && turnGoesOn(state, item))) return true;
  return false;
};

/** Finalises what somebody else ended: its text is late text of that turn, and stays closed. */
export const followSettlement = (it: Interpretation): void => {
  if (!isSettledElsewhere(it)) return;
  const state = it.state();
  if (sessionGoesOn(it.memory, state)) return endItems(it, (item) => !isLate(item) && !turnGoesOn(state, item));
  endItems(it, (item) => !isLate(item));
  endOutputs(it);
  forgetPlans(it);
};

/** Flushes all that may enter the log while everything goes on: an interrupt, a drain, a shutdown. */
export const flushEverything = (it: Interpretation): void => {
  for (const item of openInOrder(it))
    if (isLate(item)) end(it, item);
    else flush(it, item);
  for (const window of it.memory.outputs.values()) flushOutput(it, window);
};
