/**
 * Content blocks of messages, told twice by the runtime: as a stream, and whole. One item a block:
 *
 *   message_start ─► block_start ─► deltas ─────────────► assistant frame (whole block) ─► block_stop ─► message_stop
 *                                   item.started, content  item.completed                                 abandoned_blocks:
 *                                                                                                         content.retracted
 *
 * A block's item id is `<message id>:<index>`, a tool call's its own id. Whole blocks carry no index: they are matched
 * with the blocks of the same message that streamed, in order. Blocks that never streamed (the fallback without a stream,
 * sub-agents) are known by their whole only. A cut stream is tried again under a new message id.
 */
import type { RuntimeEvent } from "@tributary/contracts";
import {
  asCount,
  asId,
  asInstant,
  asObject,
  asObjects,
  asText,
  defined,
  eventId,
  type NativeObject,
} from "../native.ts";
import { after, agentKey, ensurePlace, objectIn } from "./place.ts";
import { nothing, type Said, say, andThen } from "./said.ts";
import { type Block, type ClaudeState, type Place, put, type StreamedMessage } from "./state.ts";
import { dropTool, openTool, wholeTool } from "./tools.ts";
import { onServerToolResult } from "./results.ts";
import { contextUsage } from "./usage.ts";

const itemTypes = { text: "assistant_message", thinking: "reasoning" } as const;
type TextBlock = keyof typeof itemTypes;
const isTextBlock = (type: string): type is TextBlock => Object.hasOwn(itemTypes, type);
const isToolBlock = (type: string): boolean =>
  type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use";

const itemOf = (messageId: string, index: number): string => `${messageId}:${index}`;

const started = (
  place: Place,
  messageId: string,
  { index, type }: Pick<Block, "index" | "type">,
): ReadonlyArray<RuntimeEvent> =>
  isTextBlock(type)
    ? [
        say(
          "item.started",
          { ...eventId(messageId, index, "started"), ...place, itemId: itemOf(messageId, index) },
          { itemType: itemTypes[type], status: "in_progress" },
        ),
      ]
    : [];

const withMessage = (state: ClaudeState, key: string, message: StreamedMessage): ClaudeState => ({
  ...state,
  messages: put(state.messages, key, message),
});

const withBlock = (message: StreamedMessage, block: Block): StreamedMessage => ({
  ...message,
  blocks: [...message.blocks.filter(({ index }) => index !== block.index), block],
});

/** What the runtime gave up of a message must not stay as an answer. */
const abandon = (state: ClaudeState, key: string, message: StreamedMessage, from: number, reason: string): Said => {
  const { place, id } = message;
  let next = state;
  const events: Array<RuntimeEvent> = [];
  for (const block of message.blocks) {
    const { index, type, toolId, done } = block;
    if (index < from || !block.begun) continue;
    if (isTextBlock(type)) {
      events.push(
        say(
          "content.retracted",
          { ...eventId(id, index, "retracted"), ...place, itemId: itemOf(id, index) },
          // What came as a whole was completed.
          { reason, ...(done ? { whole: true } : {}) },
        ),
      );
    } else if (toolId !== undefined && !done) {
      const dropped = dropTool(next, toolId);
      next = dropped.state;
      events.push(...dropped.events);
    }
  }
  const blocks = message.blocks.filter(({ index }) => index < from);
  return { state: withMessage(next, key, { ...message, blocks }), events };
};

const onMessageStart = (state: ClaudeState, frame: NativeObject, event: NativeObject): Said => {
  const { said, place } = ensurePlace(state, frame);
  const native = objectIn(event, "message");
  const id = asId(native["id"]) ?? asId(frame["api_message_id"]);
  if (id === undefined) return said;
  const key = agentKey(frame);
  const before = said.state.messages.get(key);
  // Without a word about it, a message that never became whole was given up all the same.
  const open = before?.blocks.filter(({ done }) => !done).map(({ index }) => index) ?? [];
  const cleared =
    before === undefined || open.length === 0
      ? said
      : andThen(said, (now) => abandon(now, key, before, Math.min(...open), "the runtime began this message anew"));
  const message: StreamedMessage = {
    id,
    place,
    usage: objectIn(native, "usage"),
    blocks: [],
    ...defined({ model: asText(native["model"]) }),
  };
  return { ...cleared, state: withMessage(cleared.state, key, message) };
};

/** Where in the stream a block is. */
interface At {
  readonly key: string;
  readonly message: StreamedMessage;
  readonly index: number;
  readonly block?: Block;
}

const locate = (state: ClaudeState, frame: NativeObject, event: NativeObject): At | undefined => {
  const key = agentKey(frame);
  const message = state.messages.get(key);
  const index = asCount(event["index"]);
  if (message === undefined || index === undefined) return undefined;
  return { key, message, index, ...defined({ block: message.blocks.find((one) => one.index === index) }) };
};

const onBlockStart = (state: ClaudeState, at: At, event: NativeObject): Said => {
  const { key, message, index } = at;
  const native = objectIn(event, "content_block");
  const type = asText(native["type"]) ?? "";
  const toolId = isToolBlock(type) ? asId(native["id"]) : undefined;
  const block: Block = { index, type, begun: toolId !== undefined, done: false, ...defined({ toolId }) };
  const next = withMessage(state, key, withBlock(message, block));
  if (toolId !== undefined) return openTool(next, { toolId, name: asText(native["name"]) ?? "", place: message.place });
  const text = asText(native["text"]) ?? asText(native["thinking"]) ?? "";
  return text === "" ? nothing(next) : tell(next, { ...at, message: withBlock(message, block), block }, text);
};

/** Streams text. The item begins with its first piece: empty blocks are nothing. */
const tell = (state: ClaudeState, { key, message, index, block }: At, text: string): Said => {
  if (block === undefined || block.done || !isTextBlock(block.type)) return nothing(state);
  const delta = say(
    "content.delta",
    { ...message.place, itemId: itemOf(message.id, index) },
    { stream: block.type === "text" ? "assistant_text" : "reasoning", text },
  );
  if (block.begun) return { state, events: [delta] };
  const next = withMessage(state, key, withBlock(message, { ...block, begun: true }));
  return { state: next, events: [...started(message.place, message.id, block), delta] };
};

const onBlockDelta = (state: ClaudeState, at: At, event: NativeObject): Said => {
  const delta = objectIn(event, "delta");
  const text = asText(delta["text"]) ?? asText(delta["thinking"]);
  return text === undefined || text === "" ? nothing(state) : tell(state, at, text);
};

const onMessageStop = (state: ClaudeState, frame: NativeObject): Said => {
  const key = agentKey(frame);
  const message = state.messages.get(key);
  const abandoned = asObject(frame["abandoned_blocks"]);
  if (message === undefined || abandoned === undefined || asText(abandoned["api_message_id"]) !== message.id)
    return nothing(state);
  const from = asCount(abandoned["from_block_index"]) ?? 0;
  return abandon(state, key, message, from, "the stream broke and the runtime abandoned what it had streamed");
};

/** One event of the model's stream. */
export const onStreamEvent = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const event = asObject(frame["event"]);
  const type = asText(event?.["type"]);
  if (event === undefined || type === undefined) return undefined;
  switch (type) {
    case "message_start":
      return onMessageStart(state, frame, event);
    case "message_delta":
      return contextUsage(state, frame, event);
    case "message_stop":
      return onMessageStop(state, frame);
    case "content_block_start":
    case "content_block_delta": {
      const at = locate(state, frame, event);
      // A block of a message whose beginning was not seen: its whole will come.
      if (at === undefined) return nothing(state);
      return type === "content_block_start" ? onBlockStart(state, at, event) : onBlockDelta(state, at, event);
    }
    case "content_block_stop":
    case "ping":
    case "error":
      return nothing(state);
    default:
      return undefined;
  }
};

/** The streamed block that this whole is of, or where it would stand. */
const placeOfWhole = (message: StreamedMessage | undefined, type: string, toolId: string | undefined): Block => {
  const blocks = (message?.blocks ?? []).toSorted((one, other) => one.index - other.index);
  const alike = blocks.filter((block) =>
    toolId === undefined ? block.type === type && !block.done : block.toolId === toolId,
  );
  // Blocks that streamed nothing may never become whole: they do not take another's place.
  const found = alike.find(({ begun }) => begun) ?? alike[0];
  if (found !== undefined) return found;
  const index = blocks.reduce((next, block) => Math.max(next, block.index + 1), 0);
  return { index, type, begun: false, done: false, ...defined({ toolId }) };
};

const wholeText = (
  state: ClaudeState,
  envelope: Place & { readonly at?: string },
  ids: { readonly messageId: string; readonly uuid: string | undefined },
  block: Block,
  text: string,
): Said => {
  const { messageId, uuid } = ids;
  if (!isTextBlock(block.type) || (text === "" && !block.begun)) return nothing(state);
  const { at, ...place } = envelope;
  const itemId = itemOf(messageId, block.index);
  const event = say(
    "item.completed",
    { ...eventId(messageId, block.index, "completed"), ...place, itemId, ...defined({ at }) },
    { itemType: itemTypes[block.type], status: "completed", text },
  );
  const { turn } = state;
  const texts = turn === undefined || uuid === undefined ? undefined : put(turn.texts, uuid, { place, itemId });
  return {
    state: turn === undefined || texts === undefined ? state : { ...state, turn: { ...turn, texts } },
    events: [...(block.begun ? [] : started(place, messageId, block)), event],
  };
};

const onWholeBlock = (
  state: ClaudeState,
  place: Place,
  frame: NativeObject,
  messageId: string,
  native: NativeObject,
): Said => {
  const key = agentKey(frame);
  const type = asText(native["type"]) ?? "";
  const streamed = state.messages.get(key);
  const message: StreamedMessage =
    streamed?.id === messageId ? streamed : { id: messageId, place, usage: {}, blocks: [] };
  const toolId = isToolBlock(type) ? asId(native["id"]) : undefined;
  const block = placeOfWhole(message, type, toolId);
  if (block.done) return nothing(state);
  const next = withMessage(state, key, withBlock(message, { ...block, begun: true, done: true }));
  const at = asInstant(Date.parse(asText(frame["timestamp"]) ?? ""));
  if (toolId !== undefined) {
    const meta = asObjects(frame["tool_use_meta"]).find((one) => one["id"] === toolId);
    const displayName = asText(meta?.["display_name"]);
    return wholeTool(next, {
      toolId,
      name: asText(native["name"]) ?? "",
      input: objectIn(native, "input"),
      place,
      ...defined({ displayName, at }),
    });
  }
  if (type === "text" || type === "thinking") {
    const ids = { messageId, uuid: asId(frame["uuid"]) };
    return wholeText(next, { ...place, ...defined({ at }) }, ids, block, asText(native[type]) ?? "");
  }
  // Nothing in it is for people.
  if (type === "redacted_thinking" || type === "fallback") return nothing(next);
  if (type.endsWith("_tool_result")) return onServerToolResult(next, native);
  return { state: next, events: [say("unknown", {}, { kind: `assistant block ${type}` })] };
};

/** Text of frames that this one replaces. */
export const supersede = (state: ClaudeState, uuids: ReadonlyArray<string>, reason: string): Said => ({
  state,
  events: uuids.flatMap((uuid) => {
    const text = state.turn?.texts.get(uuid);
    return text === undefined
      ? []
      : [
          say(
            "content.retracted",
            { ...eventId(uuid, "retracted"), ...text.place, itemId: text.itemId },
            // Its frame was whole, and so is what goes.
            { reason, whole: true },
          ),
        ];
  }),
});

/** The whole blocks of one assistant frame. */
export const wholeBlocks = (state: ClaudeState, frame: NativeObject, message: NativeObject): Said => {
  const messageId = asId(message["id"]) ?? asId(frame["uuid"]);
  if (messageId === undefined) return nothing(state);
  const { said, place } = ensurePlace(state, frame);
  const replaced = supersede(said.state, asTextList(frame["supersedes"]), "the runtime replaced this message");
  let all: Said = after(said, replaced.events, replaced.state);
  for (const native of asObjects(message["content"])) {
    all = andThen(all, (now) => onWholeBlock(now, place, frame, messageId, native));
  }
  return all;
};

const asTextList = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
