/** Client commands about the thread itself. */
import { event } from "@tributary/contracts";
import type { ClientCommandOf, DomainEvent, DomainPayloads } from "@tributary/contracts";
import { accept, rejected } from "../answers.ts";
import { evolveAll } from "../evolve/thread.ts";
import { pick } from "../plain.ts";
import { isLive } from "../queue.ts";
import type { ThreadState } from "../state.ts";
import { refusedOption } from "./options.ts";
import { releaseSession } from "./release.ts";
import type { ClientHandlers, Given } from "./types.ts";

const settings = ["model", "effort", "serviceTier", "approvalMode", "interactionMode", "textDelivery"] as const;
type Settings = Partial<Pick<ClientCommandOf<"thread.configure">, (typeof settings)[number]>>;
type Applies = DomainPayloads["thread.configured"]["applies"];

const configure = ({ state, context }: Given, command: ClientCommandOf<"thread.configure">) => {
  if (command.cwd !== undefined && command.cwd !== state.cwd)
    return rejected("cwd_immutable", `A thread stays in ${state.cwd}: create a thread for ${command.cwd}`);
  if (command.instance !== undefined && command.instance !== state.instance)
    return rejected(
      "unsupported_option",
      `A thread stays with ${state.instance}: create a thread for another instance`,
      {
        userAction: "new_thread",
        details: { option: "instance" },
      },
    );
  const changed: Settings = pick(
    command,
    settings.filter((name) => command[name] !== state[name]),
  );
  const refusals = { ...context.instance?.refusedOptions, ...state.session?.capabilities?.refusedOptions };
  const problem = refusedOption(changed, refusals);
  if (problem !== undefined) return problem;
  if (Object.keys(changed).length === 0) return { ...accept(), applies: "now" as const };
  const applies = whenApplied(state, changed);
  return { ...accept(event("thread.configured", { ...changed, applies })), applies };
};

/** The service tier is fixed when a session opens; text delivery is ours alone. */
const whenApplied = (state: ThreadState, changed: Settings): Applies => {
  if (!isLive(state)) return "now";
  if (changed.serviceTier !== undefined) return "reopening";
  return Object.keys(changed).every((name) => name === "textDelivery") ? "now" : "next_turn";
};

/** Ends the session and every input, so that nothing of a deleted thread waits for anybody. */
const deleteThread = (state: ThreadState): ReadonlyArray<DomainEvent> => {
  const released = releaseSession(state, "deleted");
  const inputs = evolveAll(state, released).inputs.map(({ inputId, state: at }) =>
    at === "queued"
      ? event("input.withdrawn", { inputId, reason: "thread_deleted" })
      : event("input.discarded", { inputId }),
  );
  return [...released, ...inputs, event("thread.deleted", {})];
};

export const threadHandlers: ClientHandlers<Extract<keyof ClientHandlers, `thread.${string}`>> = {
  "thread.rename": ({ state }, { title }) =>
    state.title === title && state.titleBy === "client"
      ? accept()
      : accept(event("thread.renamed", { title, by: "client" })),
  /** What runs goes on: only new work is refused. */
  "thread.archive": ({ state }) => (state.archived ? accept() : accept(event("thread.archived", {}))),
  "thread.unarchive": ({ state }) => (state.archived ? accept(event("thread.unarchived", {})) : accept()),
  "thread.delete": ({ state }) => accept(...deleteThread(state)),
  "thread.configure": configure,
  /** The store keeps the marker: reading must not write history. */
  "thread.read": () => accept(),
};
