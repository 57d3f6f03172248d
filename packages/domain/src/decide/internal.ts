/** `decideInternal`: what becomes of what ingestion, reactors and reconciliation report. */
import type { InternalCommand, InternalCommandOf, InternalCommandType } from "@tributary/contracts";
import { refused } from "../answers.ts";
import type { InternalContext, InternalDecision, Lookups, ThreadState } from "../state.ts";
import { activityHandlers } from "./activity.ts";
import { inputInternalHandlers } from "./input-internal.ts";
import { escalationHandlers } from "./interrupt.ts";
import { liftHold } from "./lift.ts";
import { reportHandlers } from "./report.ts";
import { requestInternalHandlers } from "./request.ts";
import { sessionInternalHandlers } from "./session.ts";
import { taskHandlers } from "./task.ts";
import { textHandlers } from "./text.ts";
import { turnHandlers } from "./turn.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

const handlers: InternalHandlers = {
  ...sessionInternalHandlers,
  ...turnHandlers,
  ...textHandlers,
  ...activityHandlers,
  ...taskHandlers,
  ...requestInternalHandlers,
  ...inputInternalHandlers,
  ...escalationHandlers,
  ...reportHandlers,
};

const run = <T extends InternalCommandType>(
  type: T,
  given: InternalGiven,
  command: { readonly [K in InternalCommandType]: InternalCommandOf<K> }[T],
): InternalDecision => handlers[type](given, command);

/**
 * Decides an internal command: events, perhaps none, or a refusal that the sender records (I5). Archived threads are
 * handled as usual; of a deleted one only the purge is left. Pure, never throws.
 */
export const decideInternal = (
  state: ThreadState | undefined,
  command: InternalCommand,
  context: InternalContext,
  look: Lookups,
): InternalDecision => {
  if (state === undefined) return refused("thread_unknown");
  if (state.deleted && command.type !== "thread.purge") return refused("thread_deleted");
  return liftHold(state, run(command.type, { state, context, look }, command));
};
