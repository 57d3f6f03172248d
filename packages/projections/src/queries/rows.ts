/**
 * Rows of the timeline from the tables that hold them. Their long texts are not read here: a `Pending` row knows how much
 * it is and where its text is, and is completed with it once it is known to fit.
 */
import type { TimelineRow } from "@tributary/contracts";
import { literalOf, numberOf, optString, stringOf, type Row } from "../cells.ts";
import type { TimelineKind } from "../tables/timeline.ts";
import { keys, type Reader } from "./reader.ts";
import { sources } from "./row-sources.ts";
import { wholeTexts, type TextSource } from "./texts.ts";

export interface Entry {
  readonly position: number;
  readonly kind: TimelineKind;
  readonly rowId: string;
  readonly turnId: string | undefined;
}

export interface Pending {
  readonly entry: Entry;
  /** UTF-16 code units of the long text and of the large fields: the row takes at least as many bytes on the wire. */
  readonly weight: number;
  /** Where the long text is, for kinds that have one. */
  readonly source: TextSource | undefined;
  /** With the long text, or as much of it as fits; anything where there is none. */
  readonly complete: (text: string) => TimelineRow;
}

export const entryColumns = "position, kind, row_id, turn_id";

export const entryOf = (row: Row): Entry => ({
  position: numberOf(row, "position"),
  kind: literalOf<TimelineKind>(row, "kind"),
  rowId: stringOf(row, "row_id"),
  turnId: optString(row, "turn_id"),
});

const nameOf = (kind: TimelineKind, rowId: string): string => `${kind} ${rowId}`;

/** The rows of some entries, in their order. */
export const pendingRows = (
  reader: Reader,
  threadId: string,
  entries: ReadonlyArray<Entry>,
): ReadonlyArray<Pending> => {
  const found = new Map<string, Pending>();
  for (const [kind, ofKind] of Map.groupBy(entries, (entry) => entry.kind)) {
    const { sql, id, text, pending } = sources[kind];
    const byId = new Map(ofKind.map((entry) => [entry.rowId, entry]));
    for (const row of reader.all(sql, threadId, keys([...byId.keys()]))) {
      const entry = byId.get(stringOf(row, id));
      if (entry !== undefined) found.set(nameOf(kind, entry.rowId), { entry, source: text, ...pending(entry, row) });
    }
  }
  return entries.flatMap((entry) => found.get(nameOf(entry.kind, entry.rowId)) ?? []);
};

/** Rows with their whole texts. */
export const completeRows = (
  reader: Reader,
  threadId: string,
  rows: ReadonlyArray<Pending>,
): ReadonlyArray<TimelineRow> => {
  const texts = new Map<TextSource, ReadonlyMap<string, string>>();
  for (const [source, ofSource] of Map.groupBy(rows, (row) => row.source)) {
    // A row of weight 0 has no text to look for.
    const ids = ofSource.filter((row) => row.weight > 0).map((row) => row.entry.rowId);
    if (source !== undefined && ids.length > 0) texts.set(source, wholeTexts(reader, threadId, source, ids));
  }
  return rows.map(({ entry, source, complete }) =>
    complete((source === undefined ? undefined : texts.get(source)?.get(entry.rowId)) ?? ""),
  );
};
