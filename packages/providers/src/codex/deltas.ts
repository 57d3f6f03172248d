/** What streams into an open item. Deltas carry no ids: a stream has no identity but its order. */
import { asId, asInt, asText, asWords, type NativeObject } from "../native.ts";
import { changesOf } from "./changes.ts";
import { nothing, placeOf, type Said, say } from "./place.ts";
import { type CodexState, itemKeyOf, type OpenItem, put } from "./state.ts";

interface ItemRef {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
}

const readRef = (params: NativeObject): ItemRef | undefined => {
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  const itemId = asId(params["itemId"]);
  return threadId === undefined || turnId === undefined || itemId === undefined
    ? undefined
    : { threadId, turnId, itemId };
};

const keyOf = ({ threadId, turnId, itemId }: ItemRef): string => itemKeyOf(threadId, turnId, itemId);

/** Notes once that something streamed, so that the whole is not told again when the item is completed. */
const withItem = (state: CodexState, ref: ItemRef, change: (item: OpenItem) => OpenItem): CodexState => {
  const item = state.items.get(keyOf(ref));
  const changed = item === undefined ? undefined : change(item);
  return changed === undefined || changed === item ? state : { ...state, items: put(state.items, keyOf(ref), changed) };
};

const streamed = (item: OpenItem): OpenItem => (item.streamed ? item : { ...item, streamed: true });

type Stream = "assistant_text" | "reasoning" | "reasoning_summary" | "command_output";

/** Plain text of one stream. */
export const onDelta =
  (stream: Stream) =>
  (state: CodexState, params: NativeObject): Said | undefined => {
    const ref = readRef(params);
    const text = asText(params["delta"]);
    if (ref === undefined || text === undefined) return undefined;
    const place = placeOf(state, ref.threadId, ref.turnId);
    if (place === undefined || text === "") return nothing(state);
    const next = withItem(state, ref, streamed);
    return { state: next, events: [say("content.delta", { ...place, itemId: ref.itemId }, { stream, text })] };
  };

/** Reasoning comes in numbered parts, which are paragraphs of one text. */
export const onReasoningDelta =
  (stream: "reasoning" | "reasoning_summary", indexField: "summaryIndex" | "contentIndex") =>
  (state: CodexState, params: NativeObject): Said | undefined => {
    const ref = readRef(params);
    const said = onDelta(stream)(state, params);
    if (ref === undefined || said === undefined || said.events.length === 0) return said;
    const index = asInt(params[indexField]) ?? 0;
    const before = state.items.get(keyOf(ref))?.part[stream];
    const next = withItem(said.state, ref, (item) =>
      item.part[stream] === index ? item : { ...item, part: { ...item.part, [stream]: index } },
    );
    if (before === undefined || before === index) return { ...said, state: next };
    const place = placeOf(state, ref.threadId, ref.turnId);
    const text = `\n\n${asText(params["delta"]) ?? ""}`;
    return { state: next, events: [say("content.delta", { ...place, itemId: ref.itemId }, { stream, text })] };
  };

export const onPlanDelta = (state: CodexState, params: NativeObject): Said | undefined => {
  const ref = readRef(params);
  const text = asText(params["delta"]);
  if (ref === undefined || text === undefined) return undefined;
  const place = placeOf(state, ref.threadId, ref.turnId);
  if (place === undefined || text === "") return nothing(state);
  return { state, events: [say("proposed_plan.delta", place, { planId: ref.itemId, text })] };
};

/** The changes of a patch as they stand now: what an approval that follows is about. */
export const onPatchUpdated = (state: CodexState, params: NativeObject): Said | undefined => {
  const ref = readRef(params);
  if (ref === undefined || !Array.isArray(params["changes"])) return undefined;
  const place = placeOf(state, ref.threadId, ref.turnId);
  if (place === undefined) return nothing(state);
  const { changes: native } = params;
  const next = withItem(state, ref, (item) => ({ ...item, native: { ...item.native, changes: native } }));
  const updated = say(
    "item.updated",
    { ...place, itemId: ref.itemId },
    { itemType: "file_change", changes: changesOf(native) },
  );
  return { state: next, events: [updated] };
};

export const onMcpProgress = (state: CodexState, params: NativeObject): Said | undefined => {
  const ref = readRef(params);
  const detail = asWords(params["message"]);
  if (ref === undefined || detail === undefined) return undefined;
  const place = placeOf(state, ref.threadId, ref.turnId);
  if (place === undefined) return nothing(state);
  return { state, events: [say("item.updated", { ...place, itemId: ref.itemId }, { itemType: "mcp_tool", detail })] };
};
