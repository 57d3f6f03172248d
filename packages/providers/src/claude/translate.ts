/**
 * Claude Code's stream-json frames to records with canonical events: pure, and the same for a live session and a
 * recording.
 *
 *   in   stream_event, assistant ─► content blocks (`blocks.ts`), calls (`tools.ts`)
 *        user ────────────────────► results (`results.ts`), echoes of inputs (`inputs.ts`)
 *        system/init, result ─────► turns (`turns.ts`)
 *        control_request ─────────► an approval or a question (`requests.ts`)
 *        control_response ────────► a reply to a call of ours, or the echo of an answer of ours (`replies.ts`)
 *   out  messages, calls, answers: remembered, so that what follows can be understood
 */
import type { RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import { asId, asObject, asText, type NativeObject } from "../native.ts";
import { makeTranslator, type NativeFrame, type Translation } from "../translator.ts";
import { onStreamEvent } from "./blocks.ts";
import { capabilities } from "./capabilities.ts";
import { ignoredFrames, ignoredRequests } from "./ignored.ts";
import { onEcho, onLifecycle, onOwnMessage } from "./inputs.ts";
import {
  onApiRetry,
  onAuthStatus,
  onCommandsChanged,
  onCompactBoundary,
  onHookResponse,
  onHookStarted,
  onNotice,
  onPermissionDenied,
  onPluginInstall,
  onRateLimit,
  onRefusalFallback,
  onReset,
  onStatus,
  onWritesLost,
} from "./notices.ts";
import { onCancelRequest, onOwnAnswer, onOwnCall, onResponse } from "./replies.ts";
import { askedSubtypes, onAsked } from "./requests.ts";
import { onToolResults } from "./results.ts";
import { nothing, type Said, say } from "./said.ts";
import { type ClaudeState, initialState } from "./state.ts";
import { onTaskNotification, onTaskProgress, onTaskStarted, onTaskUpdated } from "./tasks.ts";
import { onAssistant, onInit, onLocalOutput, onResult } from "./turns.ts";

/** Handles one frame; `undefined` where it lacks what its type promises. */
type Handler = (state: ClaudeState, frame: NativeObject) => Said | undefined;

const onUser: Handler = (state, frame) =>
  frame["isReplay"] === true ? onEcho(state, frame) : onToolResults(state, frame);

const levels = { warning: "warning", suggestion: "info" } as const;

const handlers: Readonly<Record<string, Handler>> = {
  stream_event: onStreamEvent,
  assistant: onAssistant,
  user: onUser,
  result: onResult,
  command_lifecycle: onLifecycle,
  control_response: onResponse,
  control_cancel_request: onCancelRequest,
  rate_limit_event: onRateLimit,
  conversation_reset: onReset,
  auth_status: onAuthStatus,
  "system/init": onInit,
  "system/status": onStatus,
  "system/api_retry": onApiRetry,
  "system/compact_boundary": onCompactBoundary,
  "system/commands_changed": onCommandsChanged,
  "system/hook_started": onHookStarted,
  "system/hook_response": onHookResponse,
  "system/task_started": onTaskStarted,
  "system/task_updated": onTaskUpdated,
  "system/task_progress": onTaskProgress,
  "system/task_notification": onTaskNotification,
  "system/local_command_output": onLocalOutput,
  "system/informational": onNotice("informational", "content", levels),
  "system/notification": onNotice("notification", "text"),
  "system/model_refusal_fallback": onRefusalFallback,
  "system/model_refusal_no_fallback": onNotice("model_refusal", "content"),
  "system/permission_denied": onPermissionDenied,
  "system/plugin_install": onPluginInstall,
  "system/session_writes_lost": onWritesLost,
};

const unknown = (kind: string): RuntimeEvent => say("unknown", { native: { kind } }, { kind });

/** A frame of a known kind without what the kind promises: kept, counted, never fatal. */
const malformed = (state: ClaudeState, kind: string): Said => ({ state, events: [unknown(`malformed ${kind}`)] });

/** `type`, and what tells its kinds apart. */
const kindOf = (frame: NativeObject, type: string): string => {
  if (type === "system") return `system/${asText(frame["subtype"]) ?? ""}`;
  if (type === "control_request") return `control_request/${asText(asObject(frame["request"])?.["subtype"]) ?? ""}`;
  return type === "stream_event" ? `stream_event/${asText(asObject(frame["event"])?.["type"]) ?? ""}` : type;
};

/** Whether any row of the tables knows the kind. */
export const isKnownKind = (kind: string): boolean =>
  Object.hasOwn(handlers, kind) || Object.hasOwn(ignoredFrames, kind);

const onRequest = (state: ClaudeState, frame: NativeObject, kind: string): Said => {
  const requestId = asId(frame["request_id"]);
  const request = asObject(frame["request"]);
  const subtype = asText(request?.["subtype"]);
  if (requestId === undefined || request === undefined || subtype === undefined) return malformed(state, kind);
  if (askedSubtypes.has(subtype)) return onAsked(state, requestId, request);
  return Object.hasOwn(ignoredRequests, subtype) ? nothing(state) : { state, events: [unknown(kind)] };
};

const onFrame = (state: ClaudeState, frame: NativeObject, type: string, kind: string): Said => {
  if (type === "control_request") return onRequest(state, frame, kind);
  const row = type === "stream_event" ? type : kind;
  const handler = Object.hasOwn(handlers, row) ? handlers[row] : undefined;
  if (handler !== undefined) return handler(state, frame) ?? malformed(state, kind);
  return Object.hasOwn(ignoredFrames, row) ? nothing(state) : { state, events: [unknown(kind)] };
};

interface Shape {
  readonly type: string;
  readonly kind: string;
  readonly record: Omit<RuntimeRecord, "events" | "native">;
}

/** Calls and replies point at each other; an echo of our own answer is a frame. */
const shapeOf = (state: ClaudeState, dir: "in" | "out", frame: NativeObject, type: string): Shape => {
  const kind = kindOf(frame, type);
  if (type === "control_request") return { type, kind, record: { kind: "call", dir } };
  const replyTo = type === "control_response" ? asId(asObject(frame["response"])?.["request_id"]) : undefined;
  const isReply = replyTo !== undefined && (dir === "out" || state.calls.has(replyTo));
  return { type, kind, record: isReply ? { kind: "reply", dir, replyTo } : { kind: "frame", dir } };
};

const onOwn = (state: ClaudeState, frame: NativeObject, type: string): ClaudeState => {
  if (type === "user") return onOwnMessage(state, frame);
  const requestId = asId(frame["request_id"]) ?? asId(asObject(frame["response"])?.["request_id"]);
  if (requestId === undefined) return state;
  if (type === "control_request") return onOwnCall(state, requestId, asObject(frame["request"]) ?? {});
  if (type !== "control_response") return state;
  return onOwnAnswer(state, requestId, asObject(asObject(frame["response"])?.["response"]) ?? {});
};

const step = (
  said: Said,
  { record, kind }: Pick<Shape, "record" | "kind">,
  frame: unknown,
): Translation<ClaudeState> => ({
  state: said.state,
  records: [{ ...record, native: { kind, frame }, events: said.events }],
});

const incoming = (state: ClaudeState, frame: NativeObject, shape: Shape): Translation<ClaudeState> => {
  const uuid = asId(frame["uuid"]);
  // A frame that comes twice in a row is one. Echoes carry the uuid of what they repeat.
  if (uuid !== undefined && uuid === state.lastUuid && frame["isReplay"] !== true)
    return step(nothing(state), shape, frame);
  const said = onFrame(state, frame, shape.type, shape.kind);
  return step(uuid === undefined ? said : { ...said, state: { ...said.state, lastUuid: uuid } }, shape, frame);
};

/** One frame. Never throws; see `translator.ts` for what else holds. */
export const translate = (state: ClaudeState, { dir, msg }: NativeFrame): Translation<ClaudeState> => {
  const frame = asObject(msg);
  const type = asText(frame?.["type"]);
  if (frame === undefined || type === undefined) {
    const kind = frame === undefined ? "noise" : "malformed frame";
    const events = dir === "in" ? [unknown(kind)] : [];
    return step({ state, events }, { kind, record: { kind: "frame", dir } }, msg);
  }
  const shape = shapeOf(state, dir, frame, type);
  return dir === "in" ? incoming(state, frame, shape) : step(nothing(onOwn(state, frame, type)), shape, frame);
};

export const claudeTranslator = makeTranslator({
  runtime: "claude",
  recoverable: capabilities.resume.survivesKill,
  initial: initialState,
  translate,
});
