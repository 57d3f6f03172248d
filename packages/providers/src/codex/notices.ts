/** What is about the session, the account or the host rather than about a turn. */
import type { RuntimePayloads } from "@tributary/contracts";
import {
  asId,
  asInstant,
  asInt,
  asObject,
  asText,
  asWords,
  defined,
  eventId,
  shorten,
  titleOf,
  type NativeObject,
} from "../native.ts";
import { registerThread } from "./agents.ts";
import { statusOf } from "./describe.ts";
import { isRoot, nothing, placeOf, type Said, say } from "./place.ts";
import { type CodexState, drop, nativeKey, put } from "./state.ts";

type Handler = (state: CodexState, params: NativeObject, at?: string) => Said | undefined;

export const onThreadStarted: Handler = (state, params) => {
  const thread = asObject(params["thread"]);
  return thread === undefined ? undefined : nothing(registerThread(state, thread));
};

/** Model, effort and tier as Codex has them now. */
export const onSettings: Handler = (state, params, at) => {
  const threadId = asId(params["threadId"]);
  const settings = asObject(params["threadSettings"]);
  if (threadId === undefined || settings === undefined) return undefined;
  if (!isRoot(state, threadId)) return nothing(state);
  const model = asWords(settings["model"]);
  const facts = defined({ model, effort: asWords(settings["effort"]), serviceTier: asWords(settings["serviceTier"]) });
  return {
    state: model === undefined ? state : { ...state, model },
    events: [say("session.configured", defined({ at }), facts)],
  };
};

export const onName: Handler = (state, params, at) => {
  const threadId = asId(params["threadId"]);
  if (threadId === undefined) return undefined;
  const title = asWords(params["threadName"]);
  if (title === undefined || !isRoot(state, threadId)) return nothing(state);
  return { state, events: [say("session.title", defined({ at }), { title })] };
};

export const onRerouted: Handler = (state, params, at) => {
  const from = asText(params["fromModel"]);
  const to = asText(params["toModel"]);
  const threadId = asId(params["threadId"]);
  if (from === undefined || to === undefined || threadId === undefined) return undefined;
  const place = placeOf(state, threadId, asId(params["turnId"]));
  if (place === undefined) return nothing(state);
  const reason = asWords(params["reason"]);
  return {
    state,
    events: [say("model.rerouted", { ...place, ...defined({ at }) }, { from, to, ...defined({ reason }) })],
  };
};

const hours = (minutes: number): string =>
  minutes % 1440 === 0 ? `${minutes / 1440} d` : minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;

/** Windows that Codex tells nothing of are left out; so is an update without any (an account that has no limits). */
export const onLimits: Handler = (state, params, at) => {
  const limits = asObject(params["rateLimits"]);
  if (limits === undefined) return undefined;
  const id = asId(limits["limitId"]) ?? "codex";
  const name = asWords(limits["limitName"]) ?? id;
  const windows = (["primary", "secondary"] as const).flatMap((which) => {
    const window = asObject(limits[which]);
    const percent = window?.["usedPercent"];
    const windowId = asId(`${id}.${which}`);
    if (typeof percent !== "number" || !Number.isFinite(percent) || windowId === undefined) return [];
    const minutes = asInt(window?.["windowDurationMins"]);
    const seconds = window?.["resetsAt"];
    const resetsAt = asInstant(typeof seconds === "number" ? seconds * 1000 : undefined);
    const label = minutes === undefined ? name : `${name} ${hours(minutes)}`;
    return [{ id: windowId, label, usedRatio: percent / 100, ...defined({ resetsAt }) }];
  });
  return { state, events: windows.length === 0 ? [] : [say("account.limits", defined({ at }), { windows })] };
};

/** One server at a time on the wire; all of them in the event. */
export const onMcpStatus: Handler = (state, params, at) => {
  const name = asId(params["name"]);
  const status = asWords(params["status"]);
  if (name === undefined || status === undefined) return undefined;
  const error = asWords(params["error"]);
  const servers = put(state.servers, name, { state: status, ...defined({ error }) });
  const told = [...servers].map(([server, facts]) => ({
    name: server,
    state: asText(facts["state"]) ?? "unknown",
    ...defined({ error: asText(facts["error"]) }),
  }));
  return { state: { ...state, servers }, events: [say("mcp.status", defined({ at }), { servers: told })] };
};

/** Words for a person, in one of the fields that the vendor uses for them. */
export const onNotice =
  (level: RuntimePayloads["notice"]["level"], code: string, text: "message" | "summary"): Handler =>
  (state, params, at) => {
    const message = asWords(params[text]);
    if (message === undefined) return undefined;
    const threadId = asId(params["threadId"]);
    const place = threadId === undefined ? {} : placeOf(state, threadId, undefined);
    if (place === undefined) return nothing(state);
    const detail = asWords(params["details"]);
    // Not under a turn: the frame names none.
    const path = place.agentPath === undefined ? {} : { agentPath: place.agentPath };
    const notice = say(
      "notice",
      { ...path, ...defined({ at }) },
      {
        level,
        code: `codex.${code}`,
        message: shorten(message, 1300),
        ...defined({ detail: detail === undefined ? undefined : shorten(detail, 1300) }),
      },
    );
    return { state, events: [notice] };
  };

/** Codex says that a request of its own is over: by our reply, or because nobody waits for it any more. */
export const onResolved: Handler = (state, params, at) => {
  const id = params["requestId"];
  if (typeof id !== "number" && typeof id !== "string") return undefined;
  const key = nativeKey(id);
  const asked = state.asked.get(key);
  // Requests that the adapter refused were never opened.
  if (asked === undefined) return nothing(state);
  const { answered } = asked;
  const resolved = say(
    "request.resolved",
    { ...eventId(asked.requestId, "resolved"), ...asked.place, requestId: asked.requestId, ...defined({ at }) },
    answered === undefined
      ? { outcome: "withdrawn", by: "runtime" }
      : { outcome: "answered", by: "client", ...(answered === "" ? {} : { optionId: answered }) },
  );
  return { state: { ...state, asked: drop(state.asked, key) }, events: [resolved] };
};

/** A hook of the user's own configuration. */
export const onHook =
  (phase: "started" | "completed"): Handler =>
  (state, params, at) => {
    const run = asObject(params["run"]);
    const threadId = asId(params["threadId"]);
    const itemId = asId(run?.["id"]);
    if (run === undefined || threadId === undefined || itemId === undefined) return undefined;
    const turnId = asId(params["turnId"]);
    const place = placeOf(state, threadId, turnId);
    if (place === undefined) return nothing(state);
    const envelope = { ...eventId(turnId ?? threadId, itemId, phase), ...place, itemId, ...defined({ at }) };
    const message = asWords(run["statusMessage"]);
    const fields = {
      itemType: "hook" as const,
      ...defined({
        title: asWords(run["eventName"]),
        detail: message === undefined ? undefined : titleOf(message),
      }),
    };
    if (phase === "started")
      return { state, events: [say("item.started", envelope, { ...fields, status: "in_progress" })] };
    const native = asText(run["status"]);
    const status = statusOf(native) ?? (native === "blocked" || native === "stopped" ? "declined" : "completed");
    return { state, events: [say("item.completed", envelope, { ...fields, status })] };
  };

/** Codex's automatic reviewer looks at an action instead of a person. */
export const onReview =
  (phase: "started" | "completed"): Handler =>
  (state, params, at) => {
    const threadId = asId(params["threadId"]);
    const turnId = asId(params["turnId"]);
    const itemId = asId(params["reviewId"]);
    const review = asObject(params["review"]);
    if (threadId === undefined || turnId === undefined || itemId === undefined || review === undefined)
      return undefined;
    const place = placeOf(state, threadId, turnId);
    if (place === undefined) return nothing(state);
    const envelope = { ...eventId(turnId, itemId, phase), ...place, itemId, ...defined({ at }) };
    const rationale = asWords(review["rationale"]);
    const fields = {
      itemType: "review" as const,
      title: "Automatic review of an action",
      ...defined({
        input: params["action"] ?? undefined,
        detail: rationale === undefined ? undefined : shorten(rationale, 1300),
      }),
    };
    if (phase === "started")
      return { state, events: [say("item.started", envelope, { ...fields, status: "in_progress" })] };
    const verdict = asText(review["status"]);
    const status = verdict === "approved" ? "completed" : verdict === "denied" ? "declined" : "failed";
    return { state, events: [say("item.completed", envelope, { ...fields, status })] };
  };
