/** Inputs as the queue shows them. */
import type { InputView } from "@tributary/contracts";
import { compact, jsonOf, literalOf, numberOf, optJson, optString, optText, stringOf, type Row } from "../cells.ts";
import type { Reader } from "./reader.ts";

export const inputColumns =
  "input_id, position, state, mode, delivery, origin, turn_id, text, attachments, plan_id, error, reason";

export const inputView = (row: Row): InputView =>
  compact({
    id: stringOf(row, "input_id"),
    state: literalOf<InputView["state"]>(row, "state"),
    mode: literalOf<InputView["mode"]>(row, "mode"),
    delivery: literalOf<InputView["delivery"]>(row, "delivery"),
    origin: jsonOf<InputView["origin"]>(row, "origin"),
    turnId: optString(row, "turn_id"),
    text: optText(row, "text") ?? "",
    attachments: optJson<NonNullable<InputView["attachments"]>>(row, "attachments"),
    planId: optString(row, "plan_id"),
    error: optJson<NonNullable<InputView["error"]>>(row, "error"),
    reason: optText(row, "reason"),
    position: numberOf(row, "position"),
  });

/** Inputs of a thread that are not terminal, in the order of submission. */
export const inputs = (reader: Reader, threadId: string): ReadonlyArray<InputView> =>
  reader
    .all(`SELECT ${inputColumns} FROM {inputs} WHERE thread_id = ? AND open = 1 ORDER BY position`, threadId)
    .map(inputView);
