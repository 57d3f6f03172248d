/** Control traffic: our calls and their replies, and how requests of the runtime are resolved. */
import type { RuntimePayloads } from "@tributary/contracts";
import { asId, asObject, asObjects, asText, asWords, defined, eventId, type NativeObject } from "../native.ts";
import { optionOf } from "./answers.ts";
import { modeConfigured, modelConfigured } from "./configured.ts";
import { objectIn } from "./place.ts";
import { each, nothing, type Said, say, whenNew } from "./said.ts";
import { type Asked, type ClaudeState, drop, put } from "./state.ts";
import { baseline } from "./usage.ts";

type Resolved = RuntimePayloads["request.resolved"];

/** Stops the turn; where none runs yet, the prompt that would begin it is taken back. */
const interrupting = (state: ClaudeState, isEmptying: boolean): ClaudeState => {
  if (state.turn !== undefined) return { ...state, turn: { ...state.turn, isInterrupted: true } };
  if (!isEmptying) return state;
  const uuids = [...state.waiting.flatMap(({ uuid }) => uuid ?? []), ...state.begun];
  return { ...state, withdrawn: new Set([...state.withdrawn, ...uuids]) };
};

/** A call of ours. */
export const onOwnCall = (state: ClaudeState, requestId: string, request: NativeObject): ClaudeState => {
  const next = { ...state, calls: put(state.calls, requestId, request) };
  if (request["subtype"] === "interrupt") return interrupting(next, request["cancel_queued"] === true);
  const taken = request["subtype"] === "cancel_async_message" ? asId(request["message_uuid"]) : undefined;
  return taken === undefined ? next : { ...next, withdrawn: new Set(next.withdrawn).add(taken) };
};

/** An answer of ours: what it was is told when the runtime has it. */
export const onOwnAnswer = (state: ClaudeState, requestId: string, response: NativeObject): ClaudeState => {
  const asked = state.asked.get(requestId);
  if (asked === undefined) return state;
  const answered = optionOf(asked, response) ?? "";
  return { ...state, asked: put(state.asked, requestId, { ...asked, answered }) };
};

export const resolve = (state: ClaudeState, asked: Asked, payload: Resolved): Said => ({
  state: { ...state, asked: drop(state.asked, asked.requestId) },
  events: [
    say(
      "request.resolved",
      {
        ...eventId(asked.requestId, "resolved"),
        requestId: asked.requestId,
        ...asked.place,
        ...defined({ itemId: asked.toolId }),
      },
      payload,
    ),
  ],
});

/** The runtime has the answer. */
export const answered = (state: ClaudeState, asked: Asked): Said =>
  resolve(state, asked, {
    outcome: "answered",
    by: "client",
    ...(asked.answered === undefined || asked.answered === "" ? {} : { optionId: asked.answered }),
  });

const withdrawn = (state: ClaudeState, asked: Asked): Said =>
  resolve(state, asked, { outcome: "withdrawn", by: "runtime" });

/** The call that was asked about has a result: whatever was answered, it is settled. */
export const settleByResult = (state: ClaudeState, toolId: string): Said =>
  each(state, state.asked.values(), (now, asked) =>
    asked.toolId !== toolId
      ? nothing(now)
      : asked.answered === undefined
        ? withdrawn(now, asked)
        : answered(now, asked),
  );

/** Requests of a turn that is over. */
export const settleRequests = (state: ClaudeState, isOver: (asked: Asked) => boolean): Said =>
  each(state, state.asked.values(), (now, asked) =>
    !isOver(asked) ? nothing(now) : asked.answered === undefined ? withdrawn(now, asked) : answered(now, asked),
  );

/** The runtime does not want an answer any more. */
export const onCancelRequest = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const requestId = asId(frame["request_id"]);
  if (requestId === undefined) return undefined;
  const asked = state.asked.get(requestId);
  return asked === undefined ? nothing(state) : withdrawn(state, asked);
};

const commandsOf = (value: unknown): RuntimePayloads["commands.available"]["commands"] =>
  asObjects(value).flatMap((command) => {
    const name = asId(command["name"]);
    return name === undefined ? [] : [{ name, ...defined({ description: asWords(command["description"]) }) }];
  });

export const commandsAvailable = (state: ClaudeState, commands: unknown): Said => {
  const known = commandsOf(commands);
  return whenNew(state, "commands", known, () => [say("commands.available", {}, { commands: known })]);
};

const onSuccess = (state: ClaudeState, request: NativeObject, body: NativeObject): Said => {
  switch (request["subtype"]) {
    case "initialize":
      return commandsAvailable(state, body["commands"]);
    case "get_settings": {
      const applied = objectIn(body, "applied");
      return modelConfigured(state, defined({ model: asWords(applied["model"]), effort: asWords(applied["effort"]) }));
    }
    case "set_model":
      return modelConfigured(state, defined({ model: asWords(body["model"]) }));
    case "set_permission_mode":
      return modeConfigured(state, asText(body["mode"]));
    case "get_usage":
      return baseline(state, objectIn(body, "session"));
    default:
      return nothing(state);
  }
};

/** A reply to a call of ours, or the echo of an answer of ours (`--replay-user-messages`): the runtime has read it. */
export const onResponse = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const response = asObject(frame["response"]);
  const requestId = asId(response?.["request_id"]);
  if (response === undefined || requestId === undefined) return undefined;
  const asked = state.asked.get(requestId);
  if (asked !== undefined) return answered(state, asked);
  const request = state.calls.get(requestId);
  if (request === undefined) return nothing(state);
  const next = { ...state, calls: drop(state.calls, requestId) };
  return response["subtype"] === "success" ? onSuccess(next, request, objectIn(response, "response")) : nothing(next);
};
