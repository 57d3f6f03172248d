/** Hand-made frames, as small as the translator takes them. */
import type { NativeFrame } from "../../src/translator.ts";

type Fields = Readonly<Record<string, unknown>>;

let numbers = 0;
const uuid = (): string => {
  numbers += 1;
  return `u-${numbers}`;
};

export const frameIn = (msg: Fields): NativeFrame => ({ dir: "in", msg: { uuid: uuid(), session_id: "s", ...msg } });
export const frameOut = (msg: Fields): NativeFrame => ({ dir: "out", msg });

export const message = (id: string, text = "hi"): NativeFrame =>
  frameOut({ type: "user", message: { role: "user", content: [{ type: "text", text }] }, uuid: id });
export const lifecycle = (id: string, state: string): NativeFrame =>
  frameIn({ type: "command_lifecycle", command_uuid: id, state });
export const init = (more: Fields = {}): NativeFrame =>
  frameIn({ type: "system", subtype: "init", cwd: "/p", model: "m", permissionMode: "default", ...more });
export const system = (subtype: string, more: Fields = {}): NativeFrame =>
  frameIn({ type: "system", subtype, ...more });
export const result = (more: Fields = {}): NativeFrame =>
  frameIn({ type: "result", subtype: "success", is_error: false, stop_reason: "end_turn", result: "", ...more });

export const stream = (event: Fields, more: Fields = {}): NativeFrame =>
  frameIn({ type: "stream_event", event, parent_tool_use_id: null, ...more });
export const messageStart = (id: string, more: Fields = {}): NativeFrame =>
  stream({ type: "message_start", message: { id, model: "m", usage: {} } }, more);
export const blockStart = (index: number, block: Fields): NativeFrame =>
  stream({ type: "content_block_start", index, content_block: block });
export const delta = (index: number, text: string): NativeFrame =>
  stream({ type: "content_block_delta", index, delta: { type: "text_delta", text } });

export const assistant = (id: string, content: ReadonlyArray<Fields>, more: Fields = {}): NativeFrame =>
  frameIn({ type: "assistant", message: { id, model: "m", content }, parent_tool_use_id: null, ...more });
export const text = (words: string): Fields => ({ type: "text", text: words });
export const toolUse = (id: string, name: string, input: Fields = {}): Fields => ({
  type: "tool_use",
  id,
  name,
  input,
});
export const toolResult = (id: string, content: unknown, more: Fields = {}, frame: Fields = {}): NativeFrame =>
  frameIn({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, ...more }] },
    parent_tool_use_id: null,
    ...frame,
  });
export const permission = (requestId: string, name: string, input: Fields, more: Fields = {}): NativeFrame => ({
  dir: "in",
  msg: {
    type: "control_request",
    request_id: requestId,
    request: { subtype: "can_use_tool", tool_name: name, input, ...more },
  },
});
export const call = (requestId: string, request: Fields): NativeFrame =>
  frameOut({ type: "control_request", request_id: requestId, request });
export const reply = (requestId: string, response: Fields): NativeFrame => ({
  dir: "in",
  msg: { type: "control_response", response: { subtype: "success", request_id: requestId, response } },
});

/** A turn around these frames. */
export const turn = (...frames: ReadonlyArray<NativeFrame>): ReadonlyArray<NativeFrame> => [
  init({ uuid: "turn" }),
  ...frames,
];
