/** Output of commands: into the window of its activity, never into a message (4.7). */
import { itemKey } from "@tributary/contracts";
import type { RuntimeEventOf } from "@tributary/contracts";
import { enter } from "../interpret/enter.ts";
import { applied, folded, held, refused } from "../interpret/interpretation.ts";
import type { Interpretation, Outcome } from "../interpret/interpretation.ts";
import { outputHeadUnits, outputPieceUnits } from "../limits.ts";
import { openOutput, pushOutput } from "../interpret/output-window.ts";
import { flushFullOutput } from "../interpret/outputs.ts";
import { defined, root } from "../plain.ts";
import { flushAgent } from "../text/text.ts";

type Delta = RuntimeEventOf<"content.delta">;

const activityIdOf = ({ turnId, agentPath, itemId }: Delta): string | undefined =>
  itemId === undefined ? undefined : itemKey(turnId, agentPath ?? root, itemId);

const isOpen = (it: Interpretation, activityId: string): boolean =>
  it.state()?.activities.some((activity) => activity.activityId === activityId) === true;

/** Output of an item that was not announced: it can only be a command's. */
const begin = (it: Interpretation, event: Delta, activityId: string): Outcome | undefined => {
  const { turnId, itemId } = event;
  const agentPath = event.agentPath ?? root;
  if (itemId === undefined) return refused("invalid");
  if (it.look.closed("activity", activityId) !== undefined) return refused("item_over");
  flushAgent(it, agentPath);
  const { generation } = it.memory;
  const start = { activityId, itemId, itemType: "command", agentPath, generation } as const;
  const refusal = enter(it, { type: "activity.start", ...start, ...defined({ turnId }) });
  return refusal === undefined ? undefined : refused(refusal);
};

export const output = (it: Interpretation, event: Delta): Outcome => {
  const activityId = activityIdOf(event);
  if (activityId === undefined) return refused("invalid");
  if (event.payload.text === "") return folded;
  if (!isOpen(it, activityId)) {
    const problem = begin(it, event, activityId);
    if (problem !== undefined) return problem;
  }
  const { turnId, itemId } = event;
  const { outputs, accounts } = it.memory;
  const of = { activityId, turnId, agentPath: event.agentPath ?? root, itemId: itemId ?? "" };
  const window = outputs.get(activityId) ?? openOutput(of);
  outputs.set(activityId, window);
  // What lies beyond the head stands in the window, not in the log.
  if (!pushOutput(window, event.payload.text, it, it.memory.masker)) return applied;
  window.events += 1;
  accounts.held += 1;
  flushFullOutput(it, window);
  return held;
};

export const isQuietOutput = (it: Interpretation, event: Delta): boolean => {
  const activityId = activityIdOf(event);
  if (activityId === undefined) return false;
  if (event.payload.text === "") return true;
  if (!isOpen(it, activityId)) return false;
  const window = it.memory.outputs.get(activityId);
  const taken = window?.taken ?? 0;
  const pending = window?.pendingUnits ?? 0;
  // A full head takes no more; a short one must stay below an event's worth.
  const room = (window?.ring.length ?? 0) > 0 ? 0 : outputHeadUnits - taken - pending;
  return pending + Math.min(room, event.payload.text.length) < outputPieceUnits;
};

/** The activity ended with its turn: its window is closed, and output never becomes text. */
export const lateOutput = (it: Interpretation, event: Delta): Outcome =>
  event.payload.text === "" ? folded : refused(activityIdOf(event) === undefined ? "invalid" : "item_over");
