import type { DomainEventType, TextStart } from "@tributary/contracts";
import type { OpenText, ThreadState } from "../state.ts";
import type { Evolvers } from "./types.ts";

/** Opens the text at its start, or grows the open one. A closed text is not here and stays closed. */
const append = (
  state: ThreadState,
  id: string,
  kind: OpenText["kind"],
  { start, text }: { readonly start?: TextStart; readonly text: string },
): ThreadState =>
  start === undefined
    ? {
        ...state,
        texts: state.texts.map((open) => (open.id === id ? { ...open, length: open.length + text.length } : open)),
      }
    : { ...state, texts: [...state.texts, { id, kind, ...start, length: text.length }] };

const close = (state: ThreadState, id: string): ThreadState => ({
  ...state,
  texts: state.texts.filter((text) => text.id !== id),
});

export const textEvolvers: Evolvers<Extract<DomainEventType, `message.${string}` | `reasoning.${string}`>> = {
  "message.appended": (state, payload) => append(state, payload.messageId, "message", payload),
  "message.completed": (state, { messageId }) => close(state, messageId),
  "message.replaced": (state, { messageId, text }) => ({
    ...state,
    texts: state.texts.map((open) => (open.id === messageId ? { ...open, length: text.length } : open)),
  }),
  "message.retracted": (state, { messageId }) => close(state, messageId),
  "reasoning.appended": (state, payload) => append(state, payload.reasoningId, payload.kind, payload),
  "reasoning.completed": (state, { reasoningId }) => close(state, reasoningId),
};
