/**
 * Coalescing (4.9): updates of one row merge by field and enter the log together. An event of the thread that is about to
 * enter the log flushes them first, so order is kept; otherwise they enter by age.
 */
import type { DomainPayloads, RecordPosition } from "@tributary/contracts";
import { updateMs, usageMs } from "../limits.ts";

type ActivityUpdate = Omit<DomainPayloads["activity.updated"], "activityId">;
type TaskUpdate = Omit<DomainPayloads["task.updated"], "taskId">;
type Usage = DomainPayloads["usage.recorded"];

interface Pending {
  /** Events merged into it. */
  events: number;
  /** When the first of them came, in milliseconds. */
  readonly since: number;
}

export interface PendingActivity extends Pending {
  readonly kind: "activity";
  fields: ActivityUpdate;
  /** The newest record that it was made of. */
  record: RecordPosition;
}

export interface PendingTask extends Pending {
  readonly kind: "task";
  fields: TaskUpdate;
  record: RecordPosition;
}

export type PendingRow = PendingActivity | PendingTask;

export interface PendingUsage extends Pending {
  usage: Usage;
  record: RecordPosition;
}

/** A turn's cumulative diff: the newest counts. Its text is large and stays out of the checkpoint. */
export interface PendingDiff extends Pending {
  text: string;
  record: RecordPosition;
  /** Which event of that record. */
  index: number;
}

type Cuts = NonNullable<ActivityUpdate["cut"]>;

/** Notes of what was cut, the newest per field; a field that came again whole has none. */
const mergeCuts = (older: Cuts, newer: ActivityUpdate): Cuts => [
  ...older.filter(({ field }) => !Object.hasOwn(newer, field)),
  ...(newer.cut ?? []),
];

/** Later fields replace earlier ones; command output, which appends, is never coalesced. */
export const mergeActivity = (older: ActivityUpdate, newer: ActivityUpdate): ActivityUpdate => {
  const merged = { ...older, ...newer };
  if (older.cut === undefined) return merged;
  const { cut: _, ...rest } = merged;
  const cut = mergeCuts(older.cut, newer);
  return cut.length === 0 ? rest : { ...rest, cut };
};

export const updateDeadline = ({ since }: Pending): number => since + updateMs;
export const usageDeadline = ({ since }: Pending): number => since + usageMs;

/** Usage of one agent over one basis is one row; another model is another. */
export const usageKey = ({ turnId, agentPath, basis, model }: Usage): string =>
  [basis, turnId ?? "", model ?? "", ...agentPath].join("\u0000");
