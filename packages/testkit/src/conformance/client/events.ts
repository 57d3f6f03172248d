/** Public events with their payload's type, checked against the contract. */
import { domainPayloads, isDomainEventType, type DomainEventType, type DomainPayloads } from "@tributary/contracts";
import { livePayloads, type PublicEvent } from "@tributary/contracts/api";
import { Schema } from "effect";

interface Envelope {
  readonly cursor: string;
  readonly sequence: number;
}

export type SeenEventOf<T extends DomainEventType> = Envelope & {
  readonly type: T;
  readonly payload: DomainPayloads[T];
};
/** An event as a client saw it. Discriminated by `type`. */
export type SeenEvent = { readonly [T in DomainEventType]: SeenEventOf<T> }[DomainEventType];

const checks = new Map<string, (payload: unknown) => unknown>(
  Object.entries(domainPayloads).map(([type, schema]) => [
    type,
    Schema.decodeUnknownSync(schema as Schema.Codec<unknown, unknown>),
  ]),
);

/** Checks an event. A type that the contract does not know is a failure here: clients skip it, the suite must not. */
export const seenEvent = ({ cursor, sequence, type, payload }: PublicEvent): SeenEvent => {
  const check = checks.get(type);
  if (check === undefined || !isDomainEventType(type)) throw new Error(`the contract knows no event “${type}”`);
  // The payload was checked by the type, which a union of all events can't express for a variable.
  return { cursor, sequence, type, payload: check(payload) } as SeenEvent;
};

export const decodePublicEvent = Schema.decodeUnknownSync(livePayloads.event);
export const decodeLiveText = Schema.decodeUnknownSync(livePayloads.live);
