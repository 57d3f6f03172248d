/** Replies, both ways: what became of our calls, and what we answered to Codex. */
import { asId, asObject, asText, asWords, defined, eventId, type NativeObject } from "../native.ts";
import { capabilities } from "./capabilities.ts";
import { nothing, type Said, say } from "./place.ts";
import { optionOfReply } from "./requests.ts";
import { type CodexState, drop, nativeKey, type OwnCall, put } from "./state.ts";

/** Notes a request of ours. */
export const onOwnCall = (state: CodexState, id: unknown, method: string, params: NativeObject): CodexState => {
  const inputId = method === "turn/start" || method === "turn/steer" ? asId(params["clientUserMessageId"]) : undefined;
  return { ...state, calls: put(state.calls, nativeKey(id), { method, ...defined({ inputId }) }) };
};

/** The thread of this session. Another one on the same connection is not of it. */
const opened = (state: CodexState, call: OwnCall, result: NativeObject): Said | undefined => {
  const threadId = asId(asObject(result["thread"])?.["id"]);
  if (threadId === undefined) return undefined;
  if (state.root !== undefined && state.root !== threadId) {
    return nothing({ ...state, foreign: new Set(state.foreign).add(threadId) });
  }
  const model = asWords(result["model"]);
  const started = say("session.started", eventId(threadId, "session", state.generation), {
    nativeSessionId: threadId,
    resumed: call.method === "thread/resume",
    cwd: asText(result["cwd"]) ?? "",
    ...defined({ model, effort: asWords(result["reasoningEffort"]) }),
    capabilities,
  });
  return { state: { ...state, root: threadId, ...defined({ model }) }, events: [started] };
};

const forked = (state: CodexState, result: NativeObject): Said | undefined => {
  const threadId = asId(asObject(result["thread"])?.["id"]);
  if (threadId === undefined) return undefined;
  return nothing(threadId === state.root ? state : { ...state, foreign: new Set(state.foreign).add(threadId) });
};

/** Codex took an input. While a turn runs, `turn/start` gives that turn's id and acts as a steer (observed). */
const taken = (state: CodexState, { method, inputId }: OwnCall, turnId: string | undefined): Said | undefined => {
  if (turnId === undefined) return undefined;
  const isComing = method === "turn/start" && !state.turns.has(turnId);
  const inputIds = inputId === undefined ? [] : [inputId];
  const next = isComing ? { ...state, announced: put(state.announced, turnId, inputIds) } : state;
  if (inputId === undefined) return nothing(next);
  const took = say(
    "input.state",
    { ...eventId(turnId, inputId, "acknowledged"), turnId },
    { inputId, state: "acknowledged" },
  );
  return { state: next, events: [took] };
};

const onResult = (state: CodexState, call: OwnCall, result: NativeObject): Said | undefined => {
  switch (call.method) {
    case "thread/start":
    case "thread/resume":
      return opened(state, call, result);
    case "thread/fork":
      return forked(state, result);
    case "turn/start":
      return taken(state, call, asId(asObject(result["turn"])?.["id"]));
    case "turn/steer":
      return taken(state, call, asId(result["turnId"]));
    default:
      return nothing(state);
  }
};

/** Codex did nothing with what it refused. */
const refused = (state: CodexState, { inputId }: OwnCall, error: NativeObject): Said => {
  if (inputId === undefined) return nothing(state);
  const reason = asWords(error["message"]);
  return { state, events: [say("input.state", {}, { inputId, state: "refused", ...defined({ reason }) })] };
};

/** What Codex answered to a call of ours; `undefined` where it can't be read. */
export const onReply = (state: CodexState, call: OwnCall, id: unknown, frame: NativeObject): Said | undefined => {
  const settled = { ...state, calls: drop(state.calls, nativeKey(id)) };
  const error = asObject(frame["error"]);
  if (error !== undefined) return refused(settled, call, error);
  return onResult(settled, call, asObject(frame["result"]) ?? {});
};

/** What we answered. It counts once Codex says that the request is resolved. */
export const onOwnReply = (state: CodexState, id: unknown, frame: NativeObject): CodexState => {
  const key = nativeKey(id);
  const asked = state.asked.get(key);
  if (asked === undefined || frame["error"] !== undefined) return state;
  return { ...state, asked: put(state.asked, key, { ...asked, answered: optionOfReply(asked, frame["result"]) }) };
};
