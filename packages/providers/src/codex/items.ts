/** `item/started` and `item/completed`. What Codex never completes (an interrupt, a cut stream) is not ours to complete. */
import type { RuntimeEvent } from "@tributary/contracts";
import {
  asId,
  asInstant,
  asObject,
  asObjects,
  asText,
  asWords,
  defined,
  eventId,
  rowOf,
  type NativeObject,
} from "../native.ts";
import { registerAgents, registerActivity } from "./agents.ts";
import { commandTitle, describers, statusOf } from "./describe.ts";
import { isRoot, nothing, placeOf, type Said, say } from "./place.ts";
import { type CodexState, drop, itemKeyOf, type OpenItem, type Place, put } from "./state.ts";

/** An item's frame, read. */
interface ItemFrame {
  readonly phase: "started" | "completed";
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly type: string;
  readonly item: NativeObject;
  readonly key: string;
  readonly place: Place;
  readonly at?: string;
}

/** Handles one type of item; `undefined` where the frame lacks what the type is made of. */
type ItemHandler = (state: CodexState, frame: ItemFrame) => Said | undefined;

const idOf = (frame: ItemFrame, what: string = frame.phase): { readonly id?: string } =>
  eventId(frame.turnId, frame.itemId, what);

const envelopeOf = (frame: ItemFrame, what?: string) => ({
  ...idOf(frame, what),
  ...frame.place,
  itemId: frame.itemId,
  ...defined({ at: frame.at }),
});

const openItem = ({ threadId, turnId, itemId, type, item }: ItemFrame): OpenItem => ({
  threadId,
  turnId,
  itemId,
  type,
  native: item,
  streamed: false,
  part: {},
});

/** Opens and closes the item in the state; types with an activity of their own say so besides. */
const track = (state: CodexState, frame: ItemFrame): CodexState =>
  frame.phase === "started"
    ? { ...state, items: put(state.items, frame.key, openItem(frame)) }
    : { ...state, items: drop(state.items, frame.key) };

/** Reasoning that came whole: each of its streams as if it had been streamed. */
const wholeReasoning = (frame: ItemFrame): ReadonlyArray<RuntimeEvent> =>
  (["summary", "content"] as const).flatMap((stream) => {
    const parts = frame.item[stream];
    const text = Array.isArray(parts) ? parts.filter((part) => typeof part === "string").join("\n\n") : "";
    if (text === "") return [];
    const kind = stream === "summary" ? "reasoning_summary" : "reasoning";
    return [say("content.delta", envelopeOf(frame, stream), { stream: kind, text })];
  });

/** What only a completed item of this type says. */
const endFields = (open: OpenItem | undefined, { type, item }: ItemFrame) => {
  if (type === "agentMessage") return defined({ text: asText(item["text"]) });
  // What streamed is there already; a command may also come whole.
  if (type === "commandExecution" && open?.streamed !== true) {
    return defined({ output: asWords(item["aggregatedOutput"]) });
  }
  return {};
};

/** A provider's own classification of a message, such as `final_answer`. */
const phaseExt = ({ item }: ItemFrame) => {
  const phase = asWords(item["phase"]);
  return phase === undefined || phase.length > 100 ? {} : { ext: { codex: { phase } } };
};

const activity: ItemHandler = (state, frame) => {
  const describe = rowOf(describers, frame.type);
  if (describe === undefined) return undefined;
  const fields = describe(frame.item);
  const open = state.items.get(frame.key);
  const envelope = { ...envelopeOf(frame), ...phaseExt(frame) };
  if (frame.phase === "started") {
    const started = say("item.started", envelope, { ...fields, status: "in_progress" });
    return { state: track(state, frame), events: [started] };
  }
  const status = statusOf(frame.item["status"]) ?? "completed";
  const reasoning = frame.type === "reasoning" && open?.streamed !== true ? wholeReasoning(frame) : [];
  const completed = say("item.completed", envelope, { ...fields, ...endFields(open, frame), status });
  return { state: track(state, frame), events: [...reasoning, completed] };
};

/** A call to another agent: an activity, and where it names agents, news of them. */
const collab: ItemHandler = (state, frame) => {
  const said = activity(state, frame);
  if (said === undefined) return undefined;
  const registered = registerAgents(said.state, { ...frame, parentId: frame.threadId });
  return { state: registered.state, events: [...said.events, ...registered.events] };
};

const textOf = (item: NativeObject): string =>
  asObjects(item["content"])
    .flatMap((part) => asText(part["text"]) ?? [])
    .join("\n");

/** What a person said: evidence that an input was read, or a message that came from elsewhere. */
const userMessage: ItemHandler = (state, frame) => {
  const inputId = asId(frame.item["clientId"]);
  const turn = state.turns.get(frame.turnId);
  if (inputId === undefined || !isRoot(state, frame.threadId)) {
    if (frame.phase === "started") return nothing(state);
    const message = say("item.completed", envelopeOf(frame), {
      itemType: "user_message",
      status: "completed",
      text: textOf(frame.item),
    });
    return { state, events: [message] };
  }
  if (frame.phase === "completed") return nothing(state);
  const opensTurn = turn !== undefined && (turn.inputIds.includes(inputId) || !turn.heard);
  const heard =
    turn === undefined ? state : { ...state, turns: put(state.turns, frame.turnId, { ...turn, heard: true }) };
  const { itemId: _, ...envelope } = envelopeOf(frame);
  const read = say("input.state", envelope, { inputId, state: opensTurn ? "started" : "folded" });
  return { state: heard, events: [read] };
};

/** A proposed plan is not an activity: its text is. */
const plan: ItemHandler = (state, frame) => {
  const tracked = track(state, frame);
  if (frame.phase === "started") return nothing(tracked);
  const markdown = asText(frame.item["text"]);
  if (markdown === undefined) return undefined;
  const { itemId, ...envelope } = envelopeOf(frame);
  return { state: tracked, events: [say("proposed_plan.completed", envelope, { planId: itemId, markdown })] };
};

const compaction: ItemHandler = (state, frame) => {
  const { itemId: _, ...envelope } = envelopeOf(frame);
  return { state: track(state, frame), events: [say("context.compacted", envelope, { state: frame.phase })] };
};

/** A command that ran on after its turn is over now. */
const command: ItemHandler = (state, frame) => {
  const said = activity(state, frame);
  const taskId = state.background.get(frame.key);
  if (said === undefined || taskId === undefined || frame.phase === "started") return said;
  const { itemId: _, ...envelope } = envelopeOf(frame, "background/completed");
  const status = statusOf(frame.item["status"]) ?? "completed";
  const over = say("task.completed", envelope, {
    taskId,
    kind: "background",
    status,
    ...defined({ title: commandTitle(frame.item) }),
  });
  return {
    state: { ...said.state, background: drop(said.state.background, frame.key) },
    events: [...said.events, over],
  };
};

/** Types that are more, or less, than an activity. */
const special: Readonly<Record<string, ItemHandler>> = {
  userMessage,
  plan,
  contextCompaction: compaction,
  commandExecution: command,
  collabAgentToolCall: collab,
  subAgentActivity: (state, frame) => nothing(registerActivity(state, frame)),
};

const unknownType: ItemHandler = (state, frame) => {
  const kind = `item/${frame.phase}: ${frame.type}`;
  return { state, events: [say("unknown", { ...frame.place, native: { ...frame.place.native, kind } }, { kind })] };
};

const read = (
  phase: ItemFrame["phase"],
  state: CodexState,
  params: NativeObject,
  at: string | undefined,
): ItemFrame | "foreign" | undefined => {
  const item = asObject(params["item"]);
  const type = asText(item?.["type"]);
  const itemId = asId(item?.["id"]);
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  if (item === undefined || type === undefined || itemId === undefined) return undefined;
  if (threadId === undefined || turnId === undefined) return undefined;
  const place = placeOf(state, threadId, turnId);
  if (place === undefined) return "foreign";
  const key = itemKeyOf(threadId, turnId, itemId);
  const told = at ?? asInstant(params[phase === "started" ? "startedAtMs" : "completedAtMs"]);
  return { phase, threadId, turnId, itemId, type, item, key, place, ...defined({ at: told }) };
};

/** Handles `item/started` and `item/completed`. */
export const onItem =
  (phase: ItemFrame["phase"]) =>
  (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
    const frame = read(phase, state, params, at);
    if (frame === undefined) return undefined;
    if (frame === "foreign") return nothing(state);
    const handle = rowOf(special, frame.type) ?? (rowOf(describers, frame.type) === undefined ? unknownType : activity);
    return handle(state, frame);
  };
