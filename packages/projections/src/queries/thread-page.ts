/** A page of a thread with all that stands beside its rows. */
import type { ThreadPage } from "@tributary/contracts";
import { compact } from "../cells.ts";
import { encodeCursor } from "../cursor.ts";
import { inputs } from "./inputs.ts";
import { plan } from "./items.ts";
import { defaultPageLimits, newest, readPage, type PageFrom, type PageLimits } from "./page.ts";
import type { Reader } from "./reader.ts";
import { shell, type ShellExtras } from "./shells.ts";
import { turnsOf } from "./turns.ts";

export interface ThreadPageQuery extends Partial<PageLimits> {
  readonly threadId: string;
  /** Absent: the newest page. */
  readonly from?: PageFrom;
}

/**
 * All of it from one state of the store, whose sequence it names (I10). Undefined when there is no such thread or it is
 * deleted. `turns` are those that rows of the page belong to, and the newest one on the newest page.
 */
export const threadPage = (reader: Reader, query: ThreadPageQuery, extras: ShellExtras): ThreadPage | undefined =>
  reader.snapshot((sequence) => {
    const { threadId, from = newest } = query;
    const thread = shell(reader, threadId, extras);
    if (thread === undefined) return undefined;
    const limits = {
      maxBytes: query.maxBytes ?? defaultPageLimits.maxBytes,
      maxTurns: query.maxTurns ?? defaultPageLimits.maxTurns,
    };
    const { rows, before, after } = readPage(reader, threadId, from, limits);
    const turnIds = new Set(rows.flatMap((row) => row.turnId ?? []));
    if (from === newest && thread.lastTurn !== undefined) turnIds.add(thread.lastTurn.id);
    return compact({
      thread,
      sequence,
      rows,
      turns: turnsOf(reader, threadId, [...turnIds]),
      inputs: inputs(reader, threadId),
      plan: plan(reader, threadId),
      before: before === undefined ? undefined : encodeCursor(before),
      after: after === undefined ? undefined : encodeCursor(after),
    });
  });
