/** A stored event as a row of the log and back. */
import {
  isDomainEventType,
  schemaVersion,
  type Actor,
  type DomainEvent,
  type EventEnvelope,
  type RecordPosition,
  type StoredEvent,
  type UnknownStoredEvent,
} from "@tributary/contracts";
import type { Cell } from "../sqlite/Connection.ts";
import { upcast } from "./upcast.ts";

export type LogEvent = StoredEvent | UnknownStoredEvent;

/** Whether this build knows the event's type; the others are skipped (I18). */
export const isKnown = (event: LogEvent): event is StoredEvent => isDomainEventType(event.type);

/** What a purge leaves of an event: its place in the order. */
export const tombstone = "tombstone";

export const columns = [
  "sequence",
  "stream_id",
  "version",
  "event_id",
  "type",
  "schema_version",
  "occurred_at",
  "command_id",
  "correlation_id",
  "causation_id",
  "actor",
  "record",
  "payload",
] as const;

/** What the events of one decision have in common. */
export interface EventMeta {
  readonly actor: Actor;
  readonly commandId?: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly record?: RecordPosition;
}

/** Numbers an event. `eventId` is unique across stores: the log's epoch and the sequence. */
export const numbered = (
  event: DomainEvent,
  place: {
    readonly sequence: number;
    readonly streamId: string;
    readonly version: number;
    readonly epoch: string;
    readonly occurredAt: string;
  },
  meta: EventMeta,
): StoredEvent => {
  const stored: { -readonly [K in keyof EventEnvelope]: EventEnvelope[K] } & DomainEvent = {
    type: event.type,
    payload: event.payload,
    sequence: place.sequence,
    streamId: place.streamId,
    version: place.version,
    eventId: `${place.epoch}-${place.sequence}`,
    schemaVersion,
    occurredAt: place.occurredAt,
    causationId: meta.causationId ?? null,
    actor: meta.actor,
    // The type and the payload come from one event, which TypeScript no longer sees once they are apart.
  } as EventEnvelope & DomainEvent;
  if (meta.commandId !== undefined) stored.commandId = meta.commandId;
  if (meta.correlationId !== undefined) stored.correlationId = meta.correlationId;
  if (meta.record !== undefined) stored.record = meta.record;
  return stored;
};

/** A record nearly always is of the event's own thread, which is then left out. */
const recordCell = (event: StoredEvent): Cell => {
  const record = event.record;
  if (record === undefined) return null;
  const place = `${record.generation}:${record.seq}`;
  return record.threadId === event.streamId ? place : `${place}:${record.threadId}`;
};

const recordOf = (cell: string, streamId: string): RecordPosition => {
  const [generation = "", seq = "", ...threadId] = cell.split(":");
  return {
    threadId: threadId.length === 0 ? streamId : threadId.join(":"),
    generation: Number(generation),
    seq: Number(seq),
  };
};

export const actorCell = (actor: Actor): string => `${actor.kind}:${actor.id}`;

const actorOf = (cell: string): Actor => {
  const colon = cell.indexOf(":");
  // Written by `actorCell` alone.
  return { kind: cell.slice(0, colon) as Actor["kind"], id: cell.slice(colon + 1) };
};

export const cellsOf = (event: StoredEvent): Array<Cell> => [
  event.sequence,
  event.streamId,
  event.version,
  event.eventId,
  event.type,
  event.schemaVersion,
  event.occurredAt,
  event.commandId ?? null,
  event.correlationId ?? null,
  event.causationId,
  actorCell(event.actor),
  recordCell(event),
  JSON.stringify(event.payload),
];

/** The event of a row that holds `columns` in their order. */
export const eventOf = (row: ReadonlyArray<Cell>): LogEvent => {
  const [sequence, streamCell, version, eventId, typeCell, schema, occurredAt, command, correlation, causation, actor] =
    row;
  const record = row[11];
  const type = String(typeCell);
  const streamId = String(streamCell);
  const raised = upcast(type, Number(schema), JSON.parse(String(row[12])));
  const event: Record<string, unknown> = {
    type,
    payload: raised.payload,
    sequence,
    streamId,
    version,
    eventId,
    schemaVersion: raised.schemaVersion,
    occurredAt,
    causationId: causation,
    actor: actorOf(String(actor)),
  };
  if (command !== null) event["commandId"] = command;
  if (correlation !== null) event["correlationId"] = correlation;
  if (typeof record === "string") event["record"] = recordOf(record, streamId);
  // The log holds only what this file wrote, through a decider whose types fit.
  return event as unknown as LogEvent;
};

/** Code units that the payload of a row takes. */
export const payloadSize = (row: ReadonlyArray<Cell>): number => String(row[12]).length;
