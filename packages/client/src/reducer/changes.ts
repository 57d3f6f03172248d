/** How much the newest turn that changed files has changed: by its diff, else by what its activities say. */
import type { DomainPayloads, ThreadShell, TimelineRow } from "@tributary/contracts";
import { changesStat, diffStat } from "./diff-stat.ts";
import { set, type Draft } from "./events.ts";
import type { ChangeFacts, ChangeList, State } from "./state.ts";
import { backward, find } from "./timeline.ts";

type ActivityRow = Extract<TimelineRow, { readonly kind: "activity" }>;

const isChanging = (row: TimelineRow): row is ActivityRow =>
  row.kind === "activity" && row.status === "completed" && row.changes !== undefined;

const listed = ({ changes = [] }: ActivityRow, next: ChangeList | undefined): ChangeList => ({
  ...changesStat(changes),
  next,
});

/** From the loaded rows. Goes back over the rows of one turn only. */
export const activitiesOf = (state: Pick<State, "timeline">): ChangeFacts["activities"] => {
  let found: { turnId: string | undefined; position: number; list: ChangeList } | undefined;
  for (const row of backward(state.timeline)) {
    if (!isChanging(row)) continue;
    if (found === undefined) found = { turnId: row.turnId, position: row.position, list: listed(row, undefined) };
    else if (found.turnId === row.turnId) found = { ...found, list: listed(row, found.list) };
  }
  return found;
};

/** An activity was changed. `before` is its row as it was. */
export const changedBy = (draft: Draft, activityId: string, before: TimelineRow | undefined): void => {
  const row = find(draft.timeline, "activity", activityId);
  const { facts } = draft;
  if (facts === undefined) return;
  const was = before !== undefined && isChanging(before) ? before : undefined;
  const is = row !== undefined && isChanging(row) ? row : undefined;
  if (was?.changes === is?.changes) return;
  const { activities, diff } = facts.changes;
  const next = was === undefined && is !== undefined ? counting(activities, is) : activitiesOf(draft);
  set(draft, { changes: { diff, activities: next, asOpened: "computed" } });
};

const counting = (activities: ChangeFacts["activities"], row: ActivityRow): ChangeFacts["activities"] => {
  const { turnId, position } = row;
  if (activities?.turnId === turnId)
    return { turnId, position: Math.max(position, activities?.position ?? 0), list: listed(row, activities?.list) };
  return activities === undefined || position > activities.position
    ? { turnId, position, list: listed(row, undefined) }
    : activities;
};

/** Where a turn begins, as far as is known. */
const turnStart = (state: State, turnId: string): number => {
  const newest = state.facts?.turnStart;
  if (newest?.turnId === turnId) return newest.position;
  let start = 0;
  for (const row of backward(state.timeline)) if (row.turnId === turnId) start = row.position;
  return start;
};

export const diffChanged = (draft: Draft, payload: DomainPayloads["turn.diff_updated"]): void => {
  const { facts } = draft;
  if (facts === undefined) return;
  const { turnId, unifiedDiff } = payload;
  const { activities, diff } = facts.changes;
  // A diff that is too large for an event is not counted.
  if (unifiedDiff === undefined) {
    if (diff?.turnId === turnId) set(draft, { changes: { diff: undefined, activities, asOpened: "computed" } });
    return;
  }
  const index = draft.turns.findLastIndex(({ id }) => id === turnId);
  if (index === -1) return;
  const newest = diff === undefined ? -1 : draft.turns.findLastIndex(({ id }) => id === diff.turnId);
  if (index < newest) return;
  const position = diff?.turnId === turnId ? diff.position : turnStart(draft, turnId);
  set(draft, {
    changes: { diff: { turnId, position, ...diffStat(unifiedDiff) }, activities, asOpened: "computed" },
  });
};

export const changesOf = ({ diff, activities, asOpened }: ChangeFacts): ThreadShell["changes"] => {
  if (asOpened !== "computed") return asOpened;
  if (
    diff !== undefined &&
    (activities === undefined || diff.turnId === activities.turnId || diff.position > activities.position)
  ) {
    const { files, added, removed } = diff;
    return files === 0 ? undefined : { files, added, removed };
  }
  if (activities === undefined) return undefined;
  const paths = new Set<string>();
  let [added, removed] = [0, 0];
  for (let one: ChangeList | undefined = activities.list; one !== undefined; one = one.next) {
    for (const path of one.paths) paths.add(path);
    added += one.added;
    removed += one.removed;
  }
  return { files: paths.size, added, removed };
};
