/** Long texts, from the tables that keep them in pieces or in a large column. */
import { cellText, escapeWidth, numberOf, stringOf, type Row } from "../cells.ts";
import { headOf } from "../text-chunks.ts";
import { keys, type Reader } from "./reader.ts";

/** Where a row's long text is kept. `output` is what a command said before its tail. */
export type TextSource = "message" | "reasoning" | "input" | "output";

interface Source {
  /** `?1` the thread, `?2` a JSON array of ids: pieces of all of them, in any order. */
  readonly whole: string;
  /** `?1` the thread, `?2` an id, `?3` code units, `?4` characters of a cell: the pieces that begin within them, in order. */
  readonly head: string;
}

const chunked = (table: string, id: string): Source => ({
  whole: `SELECT c.${id} AS id, c.offset AS place, c.text FROM json_each(?2) AS k CROSS JOIN ${table} AS c
    WHERE c.thread_id = ?1 AND c.${id} = k.value`,
  head: `SELECT substr(text, 1, ?4) AS text FROM ${table} WHERE thread_id = ?1 AND ${id} = ?2 AND offset <= ?3 ORDER BY offset`,
});

const sources: { readonly [S in Exclude<TextSource, "output">]: Source } = {
  message: chunked("{message_chunks}", "message_id"),
  reasoning: chunked("{reasoning_chunks}", "reasoning_id"),
  input: {
    whole: `SELECT i.input_id AS id, 0 AS place, i.text FROM json_each(?2) AS k CROSS JOIN {inputs} AS i
      WHERE i.thread_id = ?1 AND i.input_id = k.value`,
    head: "SELECT substr(text, 1, ?4) AS text FROM {inputs} WHERE thread_id = ?1 AND input_id = ?2 AND ?3 >= 0",
  },
};

const outputs = `SELECT c.activity_id AS id, c.sequence AS place, c.text FROM json_each(?2) AS k CROSS JOIN {activity_output} AS c
  WHERE c.thread_id = ?1 AND c.activity_id = k.value`;

/** The whole texts of some rows, by id. */
export const wholeTexts = (
  reader: Reader,
  threadId: string,
  source: TextSource,
  ids: ReadonlyArray<string>,
): ReadonlyMap<string, string> => {
  const sql = source === "output" ? outputs : sources[source].whole;
  const pieces = Map.groupBy(reader.all(sql, threadId, keys(ids)), (row) => stringOf(row, "id"));
  return new Map(Array.from(pieces, ([id, rows]) => [id, joined(rows.length === 1 ? rows : rows.toSorted(byPlace))]));
};

/**
 * The beginning of a text: at most `units` code units, no surrogate pair split. Reads no more than that takes. A command's
 * output is never cut so: its head is a window already.
 */
export const textHead = (
  reader: Reader,
  threadId: string,
  source: Exclude<TextSource, "output">,
  id: string,
  units: number,
): string =>
  // One unit more than asked for: whether a pair would be split shows by it.
  headOf(joined(reader.all(sources[source].head, threadId, id, units, (units + 1) * escapeWidth)), 0, units);

const byPlace = (a: Row, b: Row): number => numberOf(a, "place") - numberOf(b, "place");

const joined = (pieces: ReadonlyArray<Row>): string =>
  cellText(pieces.map((piece) => stringOf(piece, "text")).join(""));
