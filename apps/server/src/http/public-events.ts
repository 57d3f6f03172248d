/**
 * From stored events to public ones (design section 10). The table is exhaustive: a new internal type does not compile
 * until somebody decided what clients see of it.
 */
import { isDomainEventType } from "@tributary/contracts";
import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import type { EncodedEvent, LogEvent } from "@tributary/store";
import { eventCursor } from "./cursor.ts";

type Mapping = { readonly [T in DomainEventType]: "as it is" | ((payload: DomainPayloads[T]) => object) };

const without = (payload: object, field: string): object =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => key !== field));

const mapping: Mapping = {
  "project.created": "as it is",
  "project.updated": "as it is",
  "project.deleted": "as it is",
  "thread.created": "as it is",
  "thread.renamed": "as it is",
  "thread.configured": "as it is",
  "thread.archived": "as it is",
  "thread.unarchived": "as it is",
  "thread.deleted": "as it is",
  "thread.purged": "as it is",
  "input.queued": "as it is",
  "input.edited": "as it is",
  "input.handed_over": "as it is",
  "input.started": "as it is",
  "input.done": "as it is",
  "input.withdrawn": "as it is",
  "input.failed": "as it is",
  "input.unconfirmed": "as it is",
  "input.discarded": "as it is",
  "input.withdraw_requested": "as it is",
  "input.withdraw_failed": "as it is",
  "queue.held": "as it is",
  "queue.resumed": "as it is",
  // The marker finds our processes again; it is nobody else's business.
  "session.opening": (payload) => without(payload, "marker"),
  "session.started": "as it is",
  "session.configured": "as it is",
  "session.exited": "as it is",
  "session.released": "as it is",
  "session.failed": "as it is",
  "session.forgotten": "as it is",
  "turn.started": "as it is",
  "turn.ended": "as it is",
  "turn.plan_updated": "as it is",
  // Above the cap the diff is fetched: GET /threads/:id/turns/:turnId/diff.
  "turn.diff_updated": (payload) => without(payload, "blob"),
  "message.appended": "as it is",
  "message.completed": "as it is",
  "message.replaced": "as it is",
  "message.retracted": "as it is",
  "reasoning.appended": "as it is",
  "reasoning.completed": "as it is",
  "activity.started": "as it is",
  "activity.updated": "as it is",
  "activity.ended": "as it is",
  "task.started": "as it is",
  "task.updated": "as it is",
  "task.ended": "as it is",
  "request.opened": "as it is",
  "request.answering": "as it is",
  "request.answered": "as it is",
  "request.withdrawn": "as it is",
  "request.expired": "as it is",
  "request.delivery_failed": "as it is",
  "plan.proposed": "as it is",
  "plan.resolved": "as it is",
  "usage.recorded": "as it is",
  "context.compacted": "as it is",
  "notice.recorded": "as it is",
  "model.rerouted": "as it is",
  "interrupt.requested": "as it is",
  "interrupt.escalated": "as it is",
};

const publicPayload = (type: DomainEventType, payload: unknown): unknown => {
  const map = mapping[type];
  // The store checked the payload by its type, which the table's key repeats.
  return map === "as it is" ? payload : (map as (payload: unknown) => object)(payload);
};

/** What clients see of an event; undefined for one whose type this build does not know. */
export const toPublic = (
  event: Pick<LogEvent, "sequence" | "streamId" | "type" | "occurredAt" | "payload">,
  epoch: string,
): PublicEvent | undefined => {
  const { sequence, streamId, type, occurredAt, payload } = event;
  if (!isDomainEventType(type)) return undefined;
  return {
    cursor: eventCursor(epoch, sequence),
    sequence,
    streamId,
    type,
    occurredAt,
    payload: publicPayload(type, payload),
  };
};

/** The same as JSON: a payload that is shown as it is goes through without being taken apart. */
export const toPublicText = (event: EncodedEvent, epoch: string): string | undefined => {
  const { sequence, streamId, type, occurredAt, payload } = event;
  if (!isDomainEventType(type)) return undefined;
  if (mapping[type] !== "as it is") return JSON.stringify(toPublic({ ...event, payload: JSON.parse(payload) }, epoch));
  // Cursors, types and instants hold nothing to be escaped.
  return `{"cursor":"${eventCursor(epoch, sequence)}","sequence":${sequence},"streamId":${JSON.stringify(streamId)},"type":"${type}","occurredAt":"${occurredAt}","payload":${payload}}`;
};
