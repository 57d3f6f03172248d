/**
 * `closedBy`: what an event makes terminal. The store keeps these facts by key, for `Lookups`; the decider's state drops
 * them. Failed and unconfirmed inputs are not among them: they wait in the state until somebody settles them.
 */
import { isDomainEventType } from "@tributary/contracts";
import type { DomainEvent, DomainEventType, DomainPayloads } from "@tributary/contracts";
import { defined } from "./plain.ts";
import type { Closed, ThreadState } from "./state.ts";

type Closers = {
  readonly [T in DomainEventType]?: (before: ThreadState, payload: DomainPayloads[T]) => Closed | undefined;
};

const isOpenText = (before: ThreadState, id: string): boolean => before.texts.some((text) => text.id === id);

const text = (id: string, length: number, retracted = false): Closed => ({ kind: "text", id, length, retracted });

/** A closed text that grew (late text of an ended turn) stays closed with its new length. */
const grown = (
  before: ThreadState,
  id: string,
  piece: { readonly start?: object; readonly offset: number; readonly text: string },
): Closed | undefined =>
  piece.start !== undefined || isOpenText(before, id) ? undefined : text(id, piece.offset + piece.text.length);

const input =
  (state: string) =>
  (before: ThreadState, { inputId: id, turnId }: { readonly inputId: string; readonly turnId?: string }): Closed => {
    const open = before.inputs.find(({ inputId }) => inputId === id);
    return { kind: "input", id, state, ...defined({ turnId: turnId ?? open?.turnId }) };
  };

const closers: Closers = {
  "turn.ended": ({ turn, session }, { turnId: id, state }) => {
    const generation = turn?.turnId === id ? turn.generation : (session?.generation ?? 0);
    return { kind: "turn", id, state, generation };
  },
  "input.done": input("done"),
  "input.withdrawn": input("withdrawn"),
  "input.discarded": input("discarded"),
  "request.answered": (_, { requestId: id, answer, by }) => ({
    kind: "request",
    id,
    state: "answered",
    ...defined({ answer, by }),
  }),
  "request.withdrawn": (_, { requestId: id }) => ({ kind: "request", id, state: "withdrawn" }),
  "request.expired": (_, { requestId: id }) => ({ kind: "request", id, state: "expired" }),
  "message.appended": (before, payload) => grown(before, payload.messageId, payload),
  "reasoning.appended": (before, payload) => grown(before, payload.reasoningId, payload),
  "message.completed": (_, { messageId, length }) => text(messageId, length),
  "reasoning.completed": (_, { reasoningId, length }) => text(reasoningId, length),
  "message.replaced": (before, { messageId, text: whole }) =>
    isOpenText(before, messageId) ? undefined : text(messageId, whole.length),
  "message.retracted": (before, { messageId }) =>
    text(messageId, before.texts.find(({ id }) => id === messageId)?.length ?? 0, true),
  "activity.ended": (_, { activityId: id, status }) => ({ kind: "activity", id, status }),
  "task.ended": (_, { taskId: id, status }) => ({ kind: "task", id, status }),
};

const close = <T extends DomainEventType>(
  type: T,
  before: ThreadState,
  payload: DomainPayloads[T],
): Closed | undefined => closers[type]?.(before, payload);

/** What `event` closes, given the state before it; undefined when it closes nothing. A later one of a key replaces it. */
export const closedBy = (before: ThreadState, event: DomainEvent): Closed | undefined =>
  isDomainEventType(event.type) ? close(event.type, before, event.payload) : undefined;
