import type { ScenarioState } from "@tributary/projections";

const live = new Set(["opening", "ready", "running", "waiting"]);

/** What still claims to be at work in threads that have no live session: I8 says nothing. */
export const openWithoutSession = ({ threads }: ScenarioState): ReadonlyArray<string> =>
  threads
    .filter(({ session }) => session === undefined || !live.has(session.state))
    .flatMap((thread) => [
      ...thread.turns.filter(({ state }) => state === "running").map(({ id }) => `turn ${id}`),
      ...thread.activities.filter(({ status }) => status === "in_progress").map(({ id }) => `activity ${id}`),
      ...thread.tasks.filter(({ status }) => status === "in_progress").map(({ id }) => `task ${id}`),
      ...[...thread.messages, ...thread.reasoning].filter(({ streaming }) => streaming).map(({ id }) => `text ${id}`),
      ...thread.requests
        .filter(({ state }) => state === "pending" || state === "answering")
        .map(({ id }) => `request ${id}`),
      ...thread.inputs
        .filter(({ state }) => state === "handed_over" || state === "started")
        .map(({ id }) => `input ${id}`),
    ]);
