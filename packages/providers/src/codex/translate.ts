/**
 * Codex's app-server frames to records with canonical events: pure, and the same for a live session and a recording.
 *
 *   in   notification ─► a handler of `notifications`, or ignored with a reason, or unknown
 *        request ──────► an approval or a question (`requests.ts`)
 *        reply ────────► what became of a call of ours (`replies.ts`)
 *   out  call, reply, notification: remembered, so that what follows can be understood
 */
import type { RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import { asInstant, asObject, asText, rowOf, type NativeObject } from "../native.ts";
import { makeTranslator, type NativeFrame, type Translation } from "../translator.ts";
import { capabilities } from "./capabilities.ts";
import { onDelta, onMcpProgress, onPatchUpdated, onPlanDelta, onReasoningDelta } from "./deltas.ts";
import { ignoredNotifications, ignoredRequests } from "./ignored.ts";
import { onItem } from "./items.ts";
import {
  onHook,
  onLimits,
  onMcpStatus,
  onName,
  onNotice,
  onRerouted,
  onResolved,
  onReview,
  onSettings,
  onThreadStarted,
} from "./notices.ts";
import { nothing, type Said, say } from "./place.ts";
import { onOwnCall, onOwnReply, onReply } from "./replies.ts";
import { askedMethods, maskReply, onAsked } from "./requests.ts";
import { type CodexState, initialState, nativeKey } from "./state.ts";
import { onDiffUpdated, onError, onPlanUpdated, onTokenUsage, onTurnCompleted, onTurnStarted } from "./turns.ts";

/** Handles one notification; `undefined` where the frame lacks what the method promises. */
type Handler = (state: CodexState, params: NativeObject, at?: string) => Said | undefined;

const notifications: Readonly<Record<string, Handler>> = {
  error: onError,
  "thread/started": onThreadStarted,
  "thread/name/updated": onName,
  "thread/settings/updated": onSettings,
  "thread/tokenUsage/updated": onTokenUsage,
  "turn/started": onTurnStarted,
  "turn/completed": onTurnCompleted,
  "turn/plan/updated": onPlanUpdated,
  "turn/diff/updated": onDiffUpdated,
  "item/started": onItem("started"),
  "item/completed": onItem("completed"),
  "item/agentMessage/delta": onDelta("assistant_text"),
  "item/commandExecution/outputDelta": onDelta("command_output"),
  "item/reasoning/summaryTextDelta": onReasoningDelta("reasoning_summary", "summaryIndex"),
  "item/reasoning/textDelta": onReasoningDelta("reasoning", "contentIndex"),
  "item/plan/delta": onPlanDelta,
  "item/fileChange/patchUpdated": onPatchUpdated,
  "item/mcpToolCall/progress": onMcpProgress,
  "item/autoApprovalReview/started": onReview("started"),
  "item/autoApprovalReview/completed": onReview("completed"),
  "hook/started": onHook("started"),
  "hook/completed": onHook("completed"),
  "serverRequest/resolved": onResolved,
  "model/rerouted": onRerouted,
  "account/rateLimits/updated": onLimits,
  "mcpServer/startupStatus/updated": onMcpStatus,
  warning: onNotice("warning", "warning", "message"),
  guardianWarning: onNotice("warning", "guardian_warning", "message"),
  configWarning: onNotice("warning", "config_warning", "summary"),
  deprecationNotice: onNotice("info", "deprecation", "summary"),
};

const unknown = (kind: string): RuntimeEvent => say("unknown", { native: { kind } }, { kind });

/** A frame of a known method without what the method promises: kept, counted, never fatal. */
const malformed = (state: CodexState, kind: string): Said => ({ state, events: [unknown(`malformed ${kind}`)] });

/** Whether any row of the tables knows the method. */
export const isKnownMethod = (method: string): boolean =>
  rowOf(notifications, method) !== undefined ||
  rowOf({ ...ignoredNotifications, ...ignoredRequests }, method) !== undefined ||
  askedMethods.has(method);

const onNotification = (state: CodexState, method: string, frame: NativeObject): Said => {
  const handle = rowOf(notifications, method);
  if (handle === undefined) {
    return rowOf(ignoredNotifications, method) === undefined ? { state, events: [unknown(method)] } : nothing(state);
  }
  return handle(state, asObject(frame["params"]) ?? {}, asInstant(frame["emittedAtMs"])) ?? malformed(state, method);
};

const onRequest = (state: CodexState, method: string, id: unknown, frame: NativeObject): Said => {
  if (askedMethods.has(method)) {
    return onAsked(state, method, id, asObject(frame["params"]) ?? {}) ?? malformed(state, method);
  }
  return rowOf(ignoredRequests, method) === undefined ? { state, events: [unknown(method)] } : nothing(state);
};

interface Shape {
  readonly kind: RuntimeRecord["kind"];
  readonly method?: string;
  readonly id?: unknown;
}

const isId = (id: unknown): id is number | string => typeof id === "number" || typeof id === "string";

/** Frames carry no `jsonrpc` member; ids are 0 and up. */
const shapeOf = (frame: NativeObject): Shape | undefined => {
  const method = asText(frame["method"]);
  const { id } = frame;
  if (method !== undefined) return isId(id) ? { kind: "call", method, id } : { kind: "frame", method };
  return isId(id) && ("result" in frame || "error" in frame) ? { kind: "reply", id } : undefined;
};

const step = (
  said: Said,
  record: Omit<RuntimeRecord, "events" | "native">,
  native: RuntimeRecord["native"],
): Translation<CodexState> => ({ state: said.state, records: [{ ...record, native, events: said.events }] });

const incoming = (state: CodexState, frame: NativeObject, shape: Shape): Translation<CodexState> => {
  const { kind, method, id } = shape;
  if (kind === "reply") {
    const call = state.calls.get(nativeKey(id));
    const said =
      call === undefined
        ? nothing(state)
        : (onReply(state, call, id, frame) ?? malformed(state, `reply to ${call.method}`));
    return step(said, { kind, dir: "in", replyTo: String(id) }, { kind: call?.method ?? "reply", frame });
  }
  const named = method ?? "";
  const said = kind === "call" ? onRequest(state, named, id, frame) : onNotification(state, named, frame);
  return step(said, { kind, dir: "in" }, { kind: named, frame });
};

const outgoing = (state: CodexState, frame: NativeObject, shape: Shape): Translation<CodexState> => {
  const { kind, method, id } = shape;
  if (kind === "reply") {
    const asked = state.asked.get(nativeKey(id));
    const shown = asked === undefined ? frame : maskReply(asked, frame);
    const said = nothing(onOwnReply(state, id, frame));
    return step(said, { kind, dir: "out", replyTo: String(id) }, { kind: asked?.method ?? "reply", frame: shown });
  }
  const named = method ?? "";
  const next = kind === "call" ? onOwnCall(state, id, named, asObject(frame["params"]) ?? {}) : state;
  return step(nothing(next), { kind, dir: "out" }, { kind: named, frame });
};

/** One frame. Never throws; see `translator.ts` for what else holds. */
export const translate = (state: CodexState, { dir, msg }: NativeFrame): Translation<CodexState> => {
  const frame = asObject(msg);
  const shape = frame === undefined ? undefined : shapeOf(frame);
  if (frame === undefined || shape === undefined) {
    const kind = frame === undefined ? "noise" : "malformed frame";
    return step({ state, events: dir === "in" ? [unknown(kind)] : [] }, { kind: "frame", dir }, { kind, frame: msg });
  }
  return dir === "in" ? incoming(state, frame, shape) : outgoing(state, frame, shape);
};

export const codexTranslator = makeTranslator({
  runtime: "codex",
  recoverable: capabilities.resume.survivesKill,
  initial: initialState,
  translate,
});
