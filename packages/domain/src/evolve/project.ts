/** `evolveProject`: what an event makes of a project. */
import type { DomainEvent } from "@tributary/contracts";
import type { ProjectState } from "../state.ts";

const apply = (state: ProjectState, event: DomainEvent): ProjectState => {
  switch (event.type) {
    case "project.updated":
      return { ...state, title: event.payload.title };
    case "project.deleted":
      return { ...state, deleted: true };
    default:
      return state;
  }
};

/**
 * The state after an event; an unknown type only counts (I18). Throws when a stream does not begin with
 * `project.created`: then the log is damaged.
 */
export const evolveProject = (state: ProjectState | undefined, event: DomainEvent, projectId: string): ProjectState => {
  if (state === undefined) {
    if (event.type !== "project.created")
      throw new Error(`the stream of project ${projectId} begins with ${event.type}, not with project.created`);
    return { projectId, root: event.payload.root, title: event.payload.title, deleted: false, version: 1 };
  }
  return { ...apply(state, event), version: state.version + 1 };
};
