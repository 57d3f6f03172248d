import type { ClientCommandOf, InternalCommandOf, InternalCommandType, ThreadCommand } from "@tributary/contracts";
import type {
  ClientLookups,
  DecideContext,
  InternalContext,
  InternalDecision,
  Lookups,
  ThreadDecision,
  ThreadState,
} from "../state.ts";

/** What a client command about an existing thread is decided with. */
export interface Given {
  readonly state: ThreadState;
  readonly context: DecideContext;
  readonly look: ClientLookups;
}

/** What an internal command is decided with. */
export interface InternalGiven {
  readonly state: ThreadState;
  readonly context: InternalContext;
  readonly look: Lookups;
}

/** `thread.create` is apart: it is the one command that meets no thread. */
export type ExistingThreadCommandType = Exclude<ThreadCommand["type"], "thread.create">;
type ClientCommands = { readonly [T in ExistingThreadCommandType]: ClientCommandOf<T> };
type InternalCommands = { readonly [T in InternalCommandType]: InternalCommandOf<T> };

export type ClientHandler<T extends ExistingThreadCommandType> = (
  given: Given,
  command: ClientCommands[T],
) => ThreadDecision;

export type InternalHandler<T extends InternalCommandType> = (
  given: InternalGiven,
  command: InternalCommands[T],
) => InternalDecision;

/** One handler a command: a missing one does not compile. */
export type ClientHandlers<K extends ExistingThreadCommandType = ExistingThreadCommandType> = {
  readonly [T in K]: ClientHandler<T>;
};
export type InternalHandlers<K extends InternalCommandType = InternalCommandType> = {
  readonly [T in K]: InternalHandler<T>;
};
