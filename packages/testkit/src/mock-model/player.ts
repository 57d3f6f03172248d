import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Action } from "./actions.ts";
import type { Conversation } from "./conversation.ts";
import type { Dialect, Encoder, JsonAnswer } from "./dialect.ts";
import type { Gates } from "./gates.ts";
import type { Outcome } from "./journal.ts";
import { pieces } from "./texts.ts";

/** Code units a text delta where the scenario does not say. */
const defaultChunk = 24;

export interface Performance {
  readonly dialect: Dialect;
  readonly conversation: Conversation;
  readonly actions: ReadonlyArray<Action>;
  readonly gates: Gates;
  readonly response: ServerResponse;
  /** Aborted when the client is gone or the server stops. */
  readonly signal: AbortSignal;
}

export const sendJson = (response: ServerResponse, answer: JsonAnswer): void => {
  response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
  response.end(JSON.stringify(answer.body));
};

const shortId = (): string => randomUUID().replaceAll("-", "").slice(0, 20);

/** Where the frames go: to the client as they come, or nowhere for a client that wants one document. */
type Send = (frames: string) => Promise<void>;

const streamTo =
  (response: ServerResponse, signal: AbortSignal): Send =>
  async (frames) => {
    if (signal.aborted || frames === "" || response.write(frames)) return;
    await once(response, "drain", { signal }).catch(() => undefined);
  };

const say = async (
  encode: (delta: string) => string,
  part: { readonly text: string; readonly chunk?: number; readonly delayMs?: number },
  send: Send,
  signal: AbortSignal,
): Promise<void> => {
  for (const piece of pieces(part.text, part.chunk ?? defaultChunk)) {
    if (part.delayMs !== undefined) await delay(part.delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await send(encode(piece));
  }
};

/** Plays the parts in order up to the first that ends the reply. */
const perform = async (performance: Performance, encoder: Encoder, send: Send): Promise<Outcome> => {
  const { actions, gates, signal } = performance;
  await send(encoder.open());
  for (const action of actions) {
    if (signal.aborted) return "client_closed";
    switch (action.kind) {
      case "text":
        await say((delta) => encoder.text(delta), action, send, signal);
        break;
      case "reasoning":
        await say((delta) => encoder.reasoning(delta), action, send, signal);
        break;
      case "call":
        await send(encoder.toolCall(action.call, `call_${action.call.idPrefix}${shortId()}`));
        break;
      case "gate":
        await gates.pass(action.name, signal);
        break;
      case "cut":
        return "cut";
      case "error":
        await send(encoder.fail(action.error));
        return "error";
    }
  }
  if (signal.aborted) return "client_closed";
  await send(encoder.close());
  return "completed";
};

/** How long what was written may reach the client before the connection breaks, in milliseconds. */
const cutDelayMs = 50;

/**
 * Breaks the connection a moment after the last text: clients that see text and break at once throw the text away
 * (Claude Code does at times), and then a test could not say what was shown.
 */
const tearDown = async (response: ServerResponse, signal: AbortSignal): Promise<void> => {
  await delay(cutDelayMs, undefined, { signal }).catch(() => undefined);
  response.destroy();
};

/** Writes one reply to the client, and says how it ended. Never fails: a client that leaves is an outcome. */
export const play = async (performance: Performance): Promise<Outcome> => {
  const { dialect, conversation, actions, response, signal } = performance;
  const first = actions[0];
  if (first?.kind === "error") {
    sendJson(response, dialect.error(first.error));
    return "error";
  }
  const encoder = dialect.encoder(conversation, shortId());
  if (!conversation.stream) {
    const outcome = await perform(performance, encoder, () => Promise.resolve());
    if (outcome === "cut") response.destroy();
    else if (!signal.aborted) sendJson(response, { status: outcome === "error" ? 500 : 200, body: encoder.whole() });
    return outcome;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const outcome = await perform(performance, encoder, streamTo(response, signal));
  if (outcome === "cut") await tearDown(response, signal);
  else if (signal.aborted) response.destroy();
  else response.end();
  return outcome;
};
