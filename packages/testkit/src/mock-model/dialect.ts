import type { IncomingHttpHeaders } from "node:http";
import type { Conversation } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import type { ModelError } from "./scenario.ts";
import type { ToolCall } from "./tools.ts";

/** A JSON answer outside of a stream. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The line of a request that decides which dialect it is. */
export interface RequestLine {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Writes one reply. Each method returns the bytes to send for it, as text; it opens and closes blocks itself, so texts
 * that follow one another are one block. It also collects, for a client that asked for no stream.
 */
export interface Encoder {
  open(): string;
  text(delta: string): string;
  reasoning(delta: string): string;
  toolCall(call: ToolCall, id: string): string;
  /** An error after the stream began; nothing may follow. */
  fail(error: ModelError): string;
  close(): string;
  /** The whole reply as one JSON document, after `close`. */
  whole(): unknown;
}

/** What makes one model API: everything that is particular to it is in its own file. */
export interface Dialect {
  readonly name: string;
  /** Whether a request for a model answer is in this dialect. */
  readonly speaks: (line: RequestLine) => boolean;
  /** The small endpoints beside it (model list, token count); undefined: not one of them. */
  readonly aside: (line: RequestLine, body: JsonObject) => JsonAnswer | undefined;
  readonly read: (body: JsonObject) => Conversation;
  /** `id` is unique for the reply and becomes part of the ids that the dialect makes up. */
  readonly encoder: (conversation: Conversation, id: string) => Encoder;
  readonly error: (error: ModelError) => JsonAnswer;
}

/** One server-sent event. */
export const sse = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A token count with no claim to be right: four code units a token, at least 1. */
export const tokens = (text: string): number => Math.max(1, Math.ceil(text.length / 4));

/** Tokens of everything that a conversation said. */
export const inputTokens = (conversation: Conversation): number =>
  conversation.entries.reduce((sum, entry) => sum + ("text" in entry ? tokens(entry.text) : 1), 1);

/** The models that every model list names: an unknown one, so that no runtime has knowledge of its own about it. */
export const mockModels: ReadonlyArray<string> = ["mock-model", "mock-model-mini"];
