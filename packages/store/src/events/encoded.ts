/** Rows of the log for who wants text: their payloads are passed on as they are stored. */
import type { Cell } from "../sqlite/Connection.ts";
import { isCurrent, upcast } from "./upcast.ts";

export interface EncodedEvent {
  readonly sequence: number;
  readonly streamId: string;
  readonly type: string;
  readonly occurredAt: string;
  /** JSON. */
  readonly payload: string;
}

export const encodedColumns = ["sequence", "stream_id", "type", "schema_version", "occurred_at", "payload"] as const;

/** Code units that the payload of a row takes. */
export const encodedSize = (row: ReadonlyArray<Cell>): number => String(row[5]).length;

export const encodedOf = ([
  sequence,
  streamId,
  typeCell,
  schema,
  occurredAt,
  text,
]: ReadonlyArray<Cell>): EncodedEvent => {
  const type = String(typeCell);
  const stored = String(text);
  const version = Number(schema);
  const payload = isCurrent(type, version) ? stored : JSON.stringify(upcast(type, version, JSON.parse(stored)).payload);
  return { sequence: Number(sequence), streamId: String(streamId), type, occurredAt: String(occurredAt), payload };
};
