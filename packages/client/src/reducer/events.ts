/** Tables of what events do, by type. An event of a type that a table does not have changes nothing there (I18). */
import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import type { Facts, State } from "./state.ts";

/** A state while one frame is applied to it. Its parts are replaced, never changed in place. */
export type Draft = { -readonly [K in keyof State]: State[K] };

export type Handlers = {
  readonly [T in DomainEventType]?: (draft: Draft, payload: DomainPayloads[T], event: PublicEvent) => void;
};

/** Runs the handler of the event, if the table has one. */
export const run = (handlers: Handlers, draft: Draft, event: PublicEvent): void => {
  if (!Object.hasOwn(handlers, event.type)) return;
  // The server ties payload and type; the table's type repeats it.
  const handler = handlers[event.type as DomainEventType] as
    | ((draft: Draft, payload: unknown, event: PublicEvent) => void)
    | undefined;
  handler?.(draft, event.payload, event);
};

/** Changes facts of a thread that is known. */
export const set = (draft: Draft, change: Partial<Facts>): void => {
  if (draft.facts !== undefined) draft.facts = { ...draft.facts, ...change };
};
