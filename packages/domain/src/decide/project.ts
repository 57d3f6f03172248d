/** Projects: registered workspace roots. */
import { event } from "@tributary/contracts";
import type { ClientCommandOf, ProjectCommand } from "@tributary/contracts";
import { accept, rejected } from "../answers.ts";
import type { DecideContext, Decision, ProjectState } from "../state.ts";

/** The last part of a path. */
const nameOf = (root: string): string => root.split(/[/\\]/).findLast((part) => part !== "") ?? root;

const create = (
  state: ProjectState | undefined,
  { projectId, root, title }: ClientCommandOf<"project.create">,
  context: DecideContext,
): Decision => {
  if (state !== undefined)
    return rejected(
      "project_exists",
      `Project ${projectId} ${state.deleted ? "was deleted and its id is not used again" : "exists"}: choose another id`,
    );
  const found = context.root;
  if (found === undefined || !found.exists)
    return rejected("cwd_missing", `The folder ${root} does not exist: create it, or register another`);
  if (found.takenBy !== undefined)
    return rejected(
      "project_exists",
      `The folder ${found.path} is registered as project ${found.takenBy}: use that one`,
      {
        details: { projectId: found.takenBy },
      },
    );
  return accept(event("project.created", { root: found.path, title: title ?? nameOf(found.path) }));
};

/** What happens to a project that is there. */
const change = (
  state: ProjectState,
  command: Exclude<ProjectCommand, { readonly type: "project.create" }>,
  { threads = 0 }: DecideContext,
): Decision => {
  switch (command.type) {
    case "project.update":
      return state.title === command.title ? accept() : accept(event("project.updated", { title: command.title }));
    case "project.delete":
      return threads === 0
        ? accept(event("project.deleted", {}))
        : rejected("project_in_use", `${threads} threads live in project ${state.title}: delete them first`, {
            details: { threads },
          });
  }
};

/**
 * Decides a client command about a project. `project.create` needs `context.root`; `project.delete` takes the number of
 * its threads from `context.threads`, since a project's state does not list them.
 */
export const decideProject = (
  state: ProjectState | undefined,
  command: ProjectCommand,
  context: DecideContext,
): Decision => {
  if (command.type === "project.create") return create(state, command, context);
  if (state === undefined || state.deleted)
    return rejected("project_not_found", `No project ${command.projectId} is registered: create it first`);
  return change(state, command, context);
};
