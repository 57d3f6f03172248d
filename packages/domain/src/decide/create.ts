/** `thread.create`: everything that can be refused is refused before the thread exists. */
import { event } from "@tributary/contracts";
import type { ClientCommandOf, McpServer } from "@tributary/contracts";
import { accept, rejected } from "../answers.ts";
import { evolveThread } from "../evolve/thread.ts";
import { mask } from "../mask.ts";
import { defined } from "../plain.ts";
import type { ClientLookups, DecideContext, ThreadDecision, ThreadState } from "../state.ts";
import { submitInput } from "./input.ts";
import { refusedOption } from "./options.ts";

type Create = ClientCommandOf<"thread.create">;

const maskValues = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, mask]));

/** Names of variables and headers stay, for people to see what was given; values never enter the log (I16). */
const maskServer = (server: McpServer): McpServer => ({
  ...server,
  ...(server.env === undefined ? {} : { env: maskValues(server.env) }),
  ...(server.headers === undefined ? {} : { headers: maskValues(server.headers) }),
});

const create = (command: Create, place: { readonly projectId: string; readonly cwd: string }) =>
  event(
    "thread.created",
    defined({
      projectId: place.projectId,
      cwd: place.cwd,
      instance: command.instance,
      title: command.title,
      model: command.model,
      effort: command.effort,
      serviceTier: command.serviceTier,
      approvalMode: command.approvalMode ?? "ask",
      interactionMode: command.interactionMode ?? "default",
      textDelivery: command.textDelivery ?? "streaming",
      systemPrompt: command.systemPrompt,
      mcpServers: command.mcpServers?.map(maskServer),
      disallowedTools: command.disallowedTools,
      resume: command.resume,
    }),
  );

export const createThread = (
  state: ThreadState | undefined,
  command: Create,
  context: DecideContext,
  look: ClientLookups,
): ThreadDecision => {
  const { threadId, instance } = command;
  if (state?.deleted === true)
    return rejected("thread_deleted", `Thread ${threadId} was deleted; its id is not used again: choose another`);
  if (state !== undefined) return rejected("thread_exists", `Thread ${threadId} exists: open it, or choose another id`);

  const { place } = context;
  if (place === undefined) return rejected("cwd_missing", `The folder ${command.cwd} was not looked up`);
  if ("refused" in place) return rejected(place.refused, place.detail, { details: { cwd: command.cwd } });
  if (context.instance?.known !== true)
    return rejected("runtime_unavailable", `No instance ${instance} is configured: add it, or choose another`, {
      userAction: "none",
      details: { instance },
    });
  const problem = refusedOption(command, context.instance.refusedOptions);
  if (problem !== undefined) return problem;

  const created = create(command, place);
  if (command.input === undefined) return accept(created);
  const first = submitInput({ state: evolveThread(undefined, created, threadId), context, look }, command.input);
  return first.ok ? { ...first, events: [created, ...first.events] } : first;
};
