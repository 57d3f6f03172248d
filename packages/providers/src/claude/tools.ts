/** Tool calls: begun while their input streams, known once it is whole, over with their result or given up. */
import { defined, eventId, type NativeObject } from "../native.ts";
import { describe, itemTypeOf } from "./describe.ts";
import { nothing, type Said, say } from "./said.ts";
import { type ClaudeState, drop, type OpenTool, type Place, put } from "./state.ts";
import { planFromTodoWrite } from "./todos.ts";

const withTool = (state: ClaudeState, toolId: string, tool: OpenTool): ClaudeState => ({
  ...state,
  tools: put(state.tools, toolId, tool),
});

/** Its name is known, its input streams. */
export const openTool = (
  state: ClaudeState,
  { toolId, name, place }: { readonly toolId: string; readonly name: string; readonly place: Place },
): Said => ({
  state: withTool(state, toolId, { name, input: {}, place }),
  events: [
    say(
      "item.started",
      { ...eventId(toolId, "started"), ...place, itemId: toolId },
      { ...describe(state, { name, input: {} }), status: "in_progress" },
    ),
  ],
});

interface WholeTool {
  readonly toolId: string;
  readonly name: string;
  readonly input: NativeObject;
  readonly place: Place;
  readonly displayName?: string;
  readonly at?: string;
}

/** Its input is whole. */
export const wholeTool = (state: ClaudeState, call: WholeTool): Said => {
  const { toolId, name, input, place, displayName, at } = call;
  const isKnown = state.tools.has(toolId);
  const type = isKnown ? "item.updated" : "item.started";
  const event = say(
    type,
    { ...eventId(toolId, isKnown ? "input" : "started"), ...place, itemId: toolId, ...defined({ at }) },
    { ...describe(state, { name, input, ...defined({ displayName }) }), status: "in_progress" },
  );
  const next = withTool(state, toolId, { name, input, place, ...defined({ displayName }) });
  const plan = name === "TodoWrite" ? planFromTodoWrite(next, toolId, place, input) : nothing(next);
  return { state: plan.state, events: [event, ...plan.events] };
};

/** Given up before it ran. */
export const dropTool = (state: ClaudeState, toolId: string): Said => {
  const tool = state.tools.get(toolId);
  if (tool === undefined) return nothing(state);
  return {
    state: { ...state, tools: drop(state.tools, toolId) },
    events: [
      say(
        "item.completed",
        { ...eventId(toolId, "completed"), ...tool.place, itemId: toolId },
        { itemType: itemTypeOf(tool.name), status: "interrupted" },
      ),
    ],
  };
};
