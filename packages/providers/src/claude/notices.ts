/** Everything about a session that is neither content nor a turn. */
import type { RuntimePayloads } from "@tributary/contracts";
import {
  asCount,
  asId,
  asInstant,
  asInt,
  asObject,
  asText,
  asTexts,
  asWords,
  defined,
  eventId,
  shorten,
  type NativeObject,
} from "../native.ts";
import { supersede } from "./blocks.ts";
import { modeConfigured } from "./configured.ts";
import { rootPlace } from "./place.ts";
import { commandsAvailable } from "./replies.ts";
import { nothing, type Said, say, andThen } from "./said.ts";
import { type ClaudeState, drop, put } from "./state.ts";

/** An event's id from the frame's own. */
const idOf = (frame: NativeObject, what: string) => {
  const uuid = asId(frame["uuid"]);
  return uuid === undefined ? {} : eventId(uuid, what);
};

const compaction = (state: ClaudeState, frame: NativeObject, payload: RuntimePayloads["context.compacted"]): Said => ({
  state,
  events: [say("context.compacted", { ...idOf(frame, "compacted"), ...rootPlace(state) }, payload)],
});

/** Says that it compacts, that this failed, or which permission mode is on. */
export const onStatus = (state: ClaudeState, frame: NativeObject): Said => {
  const said = modeConfigured(state, asText(frame["permissionMode"]));
  if (frame["status"] === "compacting") return andThen(said, (now) => compaction(now, frame, { state: "started" }));
  if (frame["compact_result"] === "failed") return andThen(said, (now) => compaction(now, frame, { state: "failed" }));
  return said;
};

export const onCompactBoundary = (state: ClaudeState, frame: NativeObject): Said => {
  const meta = asObject(frame["compact_metadata"]) ?? {};
  return compaction(state, frame, {
    state: "completed",
    ...defined({
      trigger: asWords(meta["trigger"]),
      beforeTokens: asCount(meta["pre_tokens"]),
      afterTokens: asCount(meta["post_tokens"]),
    }),
  });
};

export const onApiRetry = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const attempt = asCount(frame["attempt"]);
  if (attempt === undefined) return undefined;
  const status = asInt(frame["error_status"]);
  const error = asWords(frame["error"]) ?? "unknown";
  const reason = status === undefined ? (error === "unknown" ? "the connection broke" : error) : `${error} (${status})`;
  return {
    state,
    events: [
      say(
        "retry.scheduled",
        { ...idOf(frame, "retry"), ...rootPlace(state) },
        {
          attempt,
          reason,
          ...defined({
            limit: asCount(frame["max_retries"]),
            delayMs: asCount(Math.round(Number(frame["retry_delay_ms"]))),
          }),
        },
      ),
    ],
  };
};

const windowLabels: Readonly<Record<string, string>> = {
  five_hour: "5 hours",
  seven_day: "7 days",
  seven_day_opus: "7 days, Opus",
  seven_day_sonnet: "7 days, Sonnet",
  seven_day_overage_included: "7 days with extra usage",
  overage: "Extra usage",
};

/** Limits of a subscription. A used-up one says when it ends. */
export const onRateLimit = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const info = asObject(frame["rate_limit_info"]);
  if (info === undefined) return undefined;
  const id = asId(info["rateLimitType"]);
  const seconds = asCount(info["resetsAt"]);
  const isUsedUp = info["status"] === "rejected";
  const utilization = info["utilization"];
  const ratio =
    typeof utilization === "number" && Number.isFinite(utilization) ? utilization : isUsedUp ? 1 : undefined;
  const { limitedUntil: _, ...rest } = state;
  const next = isUsedUp ? { ...rest, ...defined({ limitedUntil: seconds }) } : rest;
  if (id === undefined || ratio === undefined) return nothing(next);
  const resetsAt = seconds === undefined ? undefined : asInstant(seconds * 1000);
  const window = { id, label: windowLabels[id] ?? id, usedRatio: ratio, ...defined({ resetsAt }) };
  return { state: next, events: [say("account.limits", idOf(frame, "limits"), { windows: [window] })] };
};

type Level = RuntimePayloads["notice"]["level"];

const notice = (state: ClaudeState, frame: NativeObject, level: Level, code: string, text: string): Said => ({
  state,
  events: [
    say("notice", { ...idOf(frame, "notice"), ...rootPlace(state) }, { level, code, message: shorten(text, 2000) }),
  ],
});

/** Words of the runtime: `field` holds them. */
export const onNotice =
  (code: string, field: string, levels: Readonly<Record<string, Level>> = {}) =>
  (state: ClaudeState, frame: NativeObject): Said | undefined => {
    const text = asWords(frame[field]);
    if (text === undefined) return nothing(state);
    return notice(state, frame, levels[asText(frame["level"]) ?? ""] ?? "info", code, text);
  };

export const onWritesLost = (state: ClaudeState, frame: NativeObject): Said => {
  const lost = asTexts(frame["lost"]).join(", ");
  const text = `The runtime could not save ${lost === "" ? "its files" : lost}: the disk is full (${asText(frame["error_code"]) ?? "unknown"})`;
  return notice(state, frame, "warning", "session_writes_lost", text);
};

export const onReset = (state: ClaudeState, frame: NativeObject): Said => {
  const text = "The conversation was cleared: what was said before is not known to the agent any more";
  return notice({ ...state, todos: new Map(), files: new Set() }, frame, "info", "conversation_reset", text);
};

export const onPluginInstall = (state: ClaudeState, frame: NativeObject): Said =>
  frame["status"] === "failed"
    ? notice(state, frame, "warning", "plugin_install_failed", asWords(frame["error"]) ?? "A plugin was not installed")
    : nothing(state);

export const onAuthStatus = (state: ClaudeState, frame: NativeObject): Said => {
  const error = asWords(frame["error"]);
  return error === undefined ? nothing(state) : notice(state, frame, "error", "auth_status", error);
};

/** Refused without asking anyone; the result of the call follows. */
export const onPermissionDenied = (state: ClaudeState, frame: NativeObject): Said => {
  const toolId = asId(frame["tool_use_id"]);
  const tool = toolId === undefined ? undefined : state.tools.get(toolId);
  if (toolId === undefined || tool === undefined) return nothing(state);
  return nothing({ ...state, tools: put(state.tools, toolId, { ...tool, denied: true }) });
};

/** A refusal of the model, tried again with another one. What the first one said is taken back. */
export const onRefusalFallback = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const [from, to] = [asWords(frame["original_model"]), asWords(frame["fallback_model"])];
  if (from === undefined || to === undefined) return undefined;
  const reason = asWords(frame["content"]) ?? asWords(frame["api_refusal_category"]);
  const said = supersede(state, asTexts(frame["retracted_message_uuids"]), "the model refused; another one answers");
  const event = say(
    "model.rerouted",
    { ...idOf(frame, "rerouted"), ...rootPlace(state) },
    { from, to, ...defined({ reason }) },
  );
  return { state: said.state, events: [...said.events, event] };
};

export const onCommandsChanged = (state: ClaudeState, frame: NativeObject): Said =>
  commandsAvailable(state, frame["commands"]);

const hookEnds = { success: "completed", error: "failed", cancelled: "interrupted" } as const;

export const onHookStarted = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const itemId = asId(frame["hook_id"]);
  if (itemId === undefined) return undefined;
  const title = asWords(frame["hook_name"]) ?? "Hook";
  const ids = { ...eventId(itemId, "started"), ...rootPlace(state), itemId };
  return {
    // Its end belongs to the same turn, also when the turn began meanwhile.
    state: { ...state, hooks: put(state.hooks, itemId, state.turn?.id) },
    events: [say("item.started", ids, { itemType: "hook", status: "in_progress", title })],
  };
};

export const onHookResponse = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const itemId = asId(frame["hook_id"]);
  const outcome = asText(frame["outcome"]);
  if (itemId === undefined || outcome === undefined) return undefined;
  const turnId = state.hooks.has(itemId) ? state.hooks.get(itemId) : state.turn?.id;
  const ids = { ...eventId(itemId, "completed"), itemId, ...defined({ turnId }) };
  const status = Object.hasOwn(hookEnds, outcome) ? hookEnds[outcome as keyof typeof hookEnds] : "completed";
  const output = asWords(frame["output"]);
  const event = say("item.completed", ids, {
    itemType: "hook",
    status,
    ...defined({ title: asWords(frame["hook_name"]), output, exitCode: asInt(frame["exit_code"]) }),
  });
  return { state: { ...state, hooks: drop(state.hooks, itemId) }, events: [event] };
};
