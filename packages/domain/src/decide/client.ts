/** `decideThread`: what becomes of a client command about a thread. */
import type { ClientCommandOf, ThreadCommand } from "@tributary/contracts";
import { rejected } from "../answers.ts";
import type { ClientLookups, DecideContext, ThreadDecision, ThreadState } from "../state.ts";
import { createThread } from "./create.ts";
import { inputHandlers } from "./input.ts";
import { interruptHandlers } from "./interrupt.ts";
import { liftHold } from "./lift.ts";
import { requestHandlers } from "./request.ts";
import { sessionHandlers } from "./session.ts";
import { threadHandlers } from "./thread.ts";
import type { ClientHandlers, ExistingThreadCommandType, Given } from "./types.ts";

const handlers: ClientHandlers = {
  ...threadHandlers,
  ...inputHandlers,
  ...interruptHandlers,
  ...requestHandlers,
  ...sessionHandlers,
};

/** An archived thread takes no new work; whatever it still does can be answered, stopped and tidied up. */
const worksArchived: { readonly [T in ExistingThreadCommandType]: boolean } = {
  "thread.rename": true,
  "thread.archive": true,
  "thread.unarchive": true,
  "thread.delete": true,
  "thread.configure": false,
  "thread.read": true,
  "input.submit": false,
  "input.edit": false,
  "input.withdraw": false,
  "input.resubmit": false,
  "input.discard": false,
  "queue.resume": false,
  "turn.interrupt": true,
  "request.answer": true,
  "session.release": true,
  "session.forget": false,
};

const run = <T extends ExistingThreadCommandType>(
  type: T,
  given: Given,
  command: { readonly [K in ExistingThreadCommandType]: ClientCommandOf<K> }[T],
): ThreadDecision => handlers[type](given, command);

/**
 * Decides a client command about a thread: events, perhaps none, or a rejection. An accepted input tells its `mode`, an
 * accepted `thread.configure` when it `applies`. Pure; never throws on what a client sends. `thread.create` needs
 * `context.place` and `context.instance`, `input.resubmit` needs `context.input` (it throws without: a wiring fault).
 */
export const decideThread = (
  state: ThreadState | undefined,
  command: ThreadCommand,
  context: DecideContext,
  look: ClientLookups,
): ThreadDecision => {
  if (command.type === "thread.create") return createThread(state, command, context, look);
  const { type, threadId } = command;
  if (state === undefined) return rejected("thread_not_found", `No thread ${threadId} exists: create it first`);
  if (state.deleted) return rejected("thread_deleted", `Thread ${threadId} was deleted: create another`);
  if (state.archived && !worksArchived[type])
    return rejected("thread_archived", `Thread ${threadId} is archived: unarchive it first`);
  return liftHold(state, run(type, { state, context, look }, command));
};
