/** Texts from their pieces. */
import { cellText, escapeWidth, stringOf } from "../cells.ts";
import { headOf } from "../text-chunks.ts";
import type { Reader } from "./reader.ts";

/** The whole text of a message. */
export const messageText = (reader: Reader, threadId: string, messageId: string): string =>
  joined(
    reader.all(
      "SELECT text FROM {message_chunks} WHERE thread_id = ? AND message_id = ? ORDER BY offset",
      threadId,
      messageId,
    ),
  );

/** The whole text of a piece of reasoning. */
export const reasoningText = (reader: Reader, threadId: string, reasoningId: string): string =>
  joined(
    reader.all(
      "SELECT text FROM {reasoning_chunks} WHERE thread_id = ? AND reasoning_id = ? ORDER BY offset",
      threadId,
      reasoningId,
    ),
  );

/** The beginning of a message: at most `units` code units, no pair split. Reads no more pieces than that takes. */
export const messageHead = (reader: Reader, threadId: string, messageId: string, units: number): string =>
  headOf(
    joined(
      reader.all(
        "SELECT substr(text, 1, ?4) AS text FROM {message_chunks} WHERE thread_id = ?1 AND message_id = ?2 AND offset <= ?3 ORDER BY offset",
        threadId,
        messageId,
        units,
        cellWidth(units),
      ),
    ),
    0,
    units,
  );

/** The beginning of a piece of reasoning. */
export const reasoningHead = (reader: Reader, threadId: string, reasoningId: string, units: number): string =>
  headOf(
    joined(
      reader.all(
        "SELECT substr(text, 1, ?4) AS text FROM {reasoning_chunks} WHERE thread_id = ?1 AND reasoning_id = ?2 AND offset <= ?3 ORDER BY offset",
        threadId,
        reasoningId,
        units,
        cellWidth(units),
      ),
    ),
    0,
    units,
  );

export const inputText = (reader: Reader, threadId: string, inputId: string): string =>
  joined(reader.all("SELECT text FROM {inputs} WHERE thread_id = ? AND input_id = ?", threadId, inputId));

/** The beginning of an input. */
export const inputHead = (reader: Reader, threadId: string, inputId: string, units: number): string => {
  const row = reader.get(
    "SELECT substr(text, 1, ?3) AS text FROM {inputs} WHERE thread_id = ?1 AND input_id = ?2",
    threadId,
    inputId,
    cellWidth(units),
  );
  return row === undefined ? "" : headOf(cellText(stringOf(row, "text")), 0, units);
};

/** What a command said before its tail. */
export const outputHead = (reader: Reader, threadId: string, activityId: string): string =>
  joined(
    reader.all(
      "SELECT text FROM {activity_output} WHERE thread_id = ? AND activity_id = ? ORDER BY sequence",
      threadId,
      activityId,
    ),
  );

/** Characters of a cell that hold at least `units` code units and one more: whether a pair would be split shows by it. */
const cellWidth = (units: number): number => (units + 1) * escapeWidth;

const joined = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string => {
  const [only] = rows;
  if (rows.length === 1 && typeof only?.["text"] === "string") return cellText(only["text"]);
  return cellText(rows.map((row) => row["text"]).join(""));
};
