import { discoveryPrefix, type Conversation } from "./conversation.ts";
import type { Intent, Part } from "./scenario.ts";
import { callsFor, type ToolCall } from "./tools.ts";

/** A part of a reply with its tool chosen. */
export type Action = Exclude<Part, { kind: "tool" }> | { readonly kind: "call"; readonly call: ToolCall };

const qualified = (call: ToolCall): string =>
  call.tool.namespace === undefined ? call.tool.name : `${call.tool.namespace}.${call.tool.name}`;

/** What the model says where the runtime offers no tool for the purpose. */
const withoutTool = (conversation: Conversation, intent: Intent): Action => {
  if (intent.purpose === "exit_plan") {
    return { kind: "text", text: `<proposed_plan>\n${intent.plan}</proposed_plan>\n` };
  }
  const names = [...conversation.tools.map((tool) => tool.name), ...conversation.deferred].join(", ");
  const wanted = intent.purpose === "named" ? intent.tool : intent.purpose;
  return { kind: "text", text: `There is no ${wanted} tool among: ${names}.` };
};

/**
 * The reply with its tools chosen. Where a tool has to be looked up first, the lookup is all that is said: the same
 * step comes again with the next request, when the tool is there.
 */
export const actionsOf = (conversation: Conversation, parts: ReadonlyArray<Part>): ReadonlyArray<Action> => {
  const actions = parts.flatMap((part): ReadonlyArray<Action> => {
    if (part.kind !== "tool") return [part];
    const calls = callsFor(conversation, part.intent);
    return calls.length === 0
      ? [withoutTool(conversation, part.intent)]
      : calls.map((call) => ({ kind: "call" as const, call }));
  });
  const lookup = actions.find((action) => action.kind === "call" && action.call.idPrefix === discoveryPrefix);
  return lookup === undefined ? actions : [lookup];
};

/** One line a part, for the journal. */
export const describe = (action: Action): string => {
  switch (action.kind) {
    case "text":
    case "reasoning":
      return `${action.kind} ${action.text.length}`;
    case "call":
      return `call ${qualified(action.call)}`;
    case "error":
      return `error ${action.error.status} ${action.error.kind}`;
    case "gate":
      return `gate ${action.name}`;
    case "cut":
      return "cut";
  }
};
