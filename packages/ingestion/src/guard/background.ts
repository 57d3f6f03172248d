import type { ThreadState } from "@tributary/domain";

/** Whether an agent works inside an open background task: it lives on when the turn that began it is over. */
export const worksInBackground = (state: ThreadState, path: ReadonlyArray<string>): boolean =>
  path.length > 0 &&
  state.tasks.some(
    ({ kind, childPath }) =>
      kind === "background" &&
      childPath !== undefined &&
      childPath.length > 0 &&
      childPath.length <= path.length &&
      childPath.every((part, at) => path[at] === part),
  );
