import { Api } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { calls } from "../calls.ts";
import { commandIdOf, derivedId, dispatch } from "../commands.ts";
import { storeProblem } from "../problems.ts";

/** Registered workspace roots: threads work only under these (I13). */
export const projectCalls = calls("projects")({
  list: () =>
    Views.use((views) => views.projects).pipe(
      Effect.mapBoth({ onFailure: storeProblem, onSuccess: (projects) => ({ projects }) }),
    ),
  create: ({ headers, payload }) => {
    const commandId = commandIdOf(headers);
    const projectId = payload.projectId ?? derivedId(commandId, "project");
    return Effect.map(dispatch({ type: "project.create", commandId, ...payload, projectId }), (receipt) => ({
      projectId,
      receipt,
    }));
  },
  update: ({ headers, params, payload }) =>
    dispatch({ type: "project.update", commandId: commandIdOf(headers), ...params, ...payload }),
  remove: ({ headers, params }) => dispatch({ type: "project.delete", commandId: commandIdOf(headers), ...params }),
});

export const projects = HttpApiBuilder.group(Api, "projects", (handlers) => handlers.handleAll(projectCalls));
