/** Turns: `system/init` shows that one began, also one that the runtime began by itself; `result` ends it. */
import type { RuntimePayloads } from "@tributary/contracts";
import { asId, asObject, asObjects, asText, asWords, defined, eventId, type NativeObject } from "../native.ts";
import { capabilities } from "./capabilities.ts";
import { modeConfigured, modelConfigured } from "./configured.ts";
import { failureOf, isRefusal, refusalOf } from "./errors.ts";
import { wholeBlocks } from "./blocks.ts";
import { agentKey, beginTurn, ensurePlace } from "./place.ts";
import { commandsAvailable, settleRequests } from "./replies.ts";
import { nothing, type Said, say, andThen, whenNew } from "./said.ts";
import { type ClaudeState, drop } from "./state.ts";
import { isInBackground, settleTasks } from "./tasks.ts";
import { resultUsage } from "./usage.ts";

type Completed = RuntimePayloads["turn.completed"];

/** The session, once it is known under this id: `/clear` gives it another one. */
const sessionStarted = (state: ClaudeState, frame: NativeObject): Said => {
  const sessionId = asId(frame["session_id"]);
  const cwd = asWords(frame["cwd"]);
  const model = asWords(frame["model"]);
  if (sessionId === undefined || cwd === undefined || sessionId === state.sessionId) return nothing(state);
  const event = say(
    "session.started",
    { ...eventId(sessionId, state.generation, "started") },
    {
      nativeSessionId: sessionId,
      resumed: state.isResumed && state.sessionId === undefined,
      cwd,
      capabilities,
      ...defined({ model, effort: asWords(frame["effort"]) ?? state.effort }),
    },
  );
  return { state: { ...state, sessionId, cwd, ...defined({ model }) }, events: [event] };
};

const mcpStatus = (state: ClaudeState, frame: NativeObject): Said => {
  const servers = asObjects(frame["mcp_servers"]).flatMap((server) => {
    const name = asId(server["name"]);
    const status = asText(server["status"]);
    return name === undefined || status === undefined ? [] : [{ name, state: status }];
  });
  if (servers.length === 0 && state.told["mcp.status"] === undefined) return nothing(state);
  return whenNew(state, "mcp.status", servers, () => [say("mcp.status", {}, { servers })]);
};

/** Names only, where `initialize` did not give them with descriptions. */
const slashCommands = (state: ClaudeState, frame: NativeObject): Said => {
  const names = Array.isArray(frame["slash_commands"]) ? frame["slash_commands"] : [];
  if (state.told["commands"] !== undefined || names.length === 0) return nothing(state);
  return commandsAvailable(
    state,
    names.map((name) => ({ name })),
  );
};

export const onInit = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const id = asId(frame["uuid"]);
  if (id === undefined) return undefined;
  const effort = asWords(frame["effort"]);
  const facts = [
    (now: ClaudeState) => sessionStarted(now, frame),
    (now: ClaudeState) => modelConfigured(now, defined({ model: asWords(frame["model"]), effort })),
    (now: ClaudeState) => modeConfigured(now, asText(frame["permissionMode"])),
    (now: ClaudeState) => mcpStatus(now, frame),
    (now: ClaudeState) => slashCommands(now, frame),
  ];
  const told = facts.reduce((said, fact) => andThen(said, fact), nothing(state));
  // Told again while a turn runs, it only brings facts up to date.
  return state.turn === undefined ? andThen(told, (now) => beginTurn(now, id)) : told;
};

export const onAssistant = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const message = asObject(frame["message"]);
  if (message === undefined) return undefined;
  if (!isRefusal(frame)) return wholeBlocks(state, frame, message);
  const text = asObjects(message["content"])
    .map((block) => asText(block["text"]) ?? "")
    .join("");
  const { said, place } = ensurePlace(state, frame);
  if (agentKey(frame) !== "") {
    const event = say(
      "runtime.error",
      { ...eventId(asId(frame["uuid"]) ?? "refusal", "error"), ...place },
      { ...refusalOf({ ...frame, text }), fatal: false },
    );
    return { state: said.state, events: [...said.events, event] };
  }
  // The turn's end says it.
  const { turn } = said.state;
  return turn === undefined
    ? said
    : { ...said, state: { ...said.state, turn: { ...turn, apiError: { ...frame, text } } } };
};

const stopReasons: Readonly<Record<string, NonNullable<Completed["stopReason"]>>> = {
  end_turn: "end",
  stop_sequence: "end",
  max_tokens: "max_tokens",
  model_context_window_exceeded: "max_tokens",
  refusal: "refusal",
  tool_use: "other",
  pause_turn: "other",
};

const isAborted = (state: ClaudeState, frame: NativeObject): boolean => {
  const reason = asText(frame["terminal_reason"]);
  if (reason !== undefined) return reason.startsWith("aborted");
  return frame["subtype"] === "error_during_execution" && state.turn?.isInterrupted === true;
};

const outcomeOf = (state: ClaudeState, frame: NativeObject): Completed => {
  if (isAborted(state, frame)) return { outcome: "interrupted" };
  const isMaxSteps = frame["subtype"] === "error_max_turns" || frame["terminal_reason"] === "max_turns";
  if (isMaxSteps) return { outcome: "completed", stopReason: "max_steps" };
  if (frame["is_error"] !== true && frame["subtype"] === "success") {
    const reason = asText(frame["stop_reason"]);
    const stopReason = reason === undefined ? undefined : (stopReasons[reason] ?? "other");
    return { outcome: "completed", ...defined({ stopReason }) };
  }
  return { outcome: "failed", error: failureOf(frame, state.turn?.apiError, state.limitedUntil) };
};

/** A result without a turn: the runtime could not start, or ended a turn that it never showed. */
const withTurn = (state: ClaudeState, frame: NativeObject, id: string): Said => {
  if (state.turn !== undefined || (state.begun.length === 0 && state.waiting.length === 0)) return nothing(state);
  return beginTurn(state, id);
};

const endTurn = (state: ClaudeState, frame: NativeObject, turnId: string, id: string): Said => {
  const usage = resultUsage(state, frame);
  const { usage: tokens, costUsd, costBasis } = usage;
  const event = say(
    "turn.completed",
    { ...eventId(id, "result"), turnId },
    { ...outcomeOf(state, frame), ...defined({ usage: tokens, costUsd, costBasis }) },
  );
  const inputs = new Map(usage.state.inputs);
  for (const uuid of state.turn?.uuids ?? []) inputs.delete(uuid);
  const { turn: _, ...rest } = usage.state;
  const tools = new Map([...rest.tools].filter(([, { place }]) => isInBackground(rest, place.agentPath)));
  return {
    state: { ...rest, inputs, tools, messages: drop(rest.messages, "") },
    events: [...usage.events, event],
  };
};

const startFailure = (state: ClaudeState, frame: NativeObject, id: string): Said => {
  if (frame["is_error"] !== true || frame["terminal_reason"] !== undefined) return nothing(state);
  const { class: failure, message, retryable } = failureOf(frame, undefined);
  return {
    state,
    events: [say("runtime.error", { ...eventId(id, "error") }, { class: failure, message, retryable, fatal: true })],
  };
};

export const onResult = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const id = asId(frame["uuid"]);
  if (id === undefined) return undefined;
  const said = withTurn(state, frame, id);
  const turn = said.state.turn;
  if (turn === undefined) return startFailure(state, frame, id);
  const settled = andThen(
    andThen(said, (now) => settleRequests(now, ({ place }) => !isInBackground(now, place.agentPath))),
    settleTasks,
  );
  return andThen(settled, (now) => endTurn(now, frame, turn.id, id));
};

/** What a local command printed, where the runtime has no assistant frame for it. */
export const onLocalOutput = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const text = asWords(frame["content"]);
  const id = asId(frame["uuid"]);
  if (text === undefined || id === undefined) return undefined;
  const { said, place } = ensurePlace(state, frame);
  const event = say(
    "item.completed",
    { ...eventId(id, "output"), ...place, itemId: id },
    { itemType: "assistant_message", status: "completed", text },
  );
  return { state: said.state, events: [...said.events, event] };
};
