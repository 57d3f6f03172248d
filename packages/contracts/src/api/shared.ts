/** What the groups of the API share: error lists, headers and query fields. */
import { Schema } from "effect";
import { Receipt } from "../commands.ts";
import { Id } from "../ids.ts";
import { opt } from "../json.ts";
import {
  BadRequest,
  CommandRejected,
  CursorProblem,
  Internal,
  NotFound,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType,
} from "./problems.ts";

export const readErrors = [BadRequest, NotFound, CursorProblem, Internal, Unavailable] as const;
export const writeErrors = [
  BadRequest,
  CommandRejected,
  PayloadTooLarge,
  UnsupportedMediaType,
  Internal,
  Unavailable,
] as const;

/** `Idempotency-Key` is the commandId: send the same key again to repeat a call safely. Absent: the server makes one. */
export const mutating = { "idempotency-key": opt(Id) };

/** The receipt of a command that was taken; a refused one is the problem `command_rejected`. */
export const Accepted = Receipt.members[0].annotate({
  identifier: "Accepted",
  examples: [{ status: "accepted", commandId: "c-1", sequence: 42, mode: "prompt" }],
});

export const Limit = Schema.NumberFromString.check(Schema.isBetween({ minimum: 1, maximum: 1000 }));
/** Opaque. `e:…` counts in the event log, `r:…` in a thread's journal; one used on the other is `cursor_invalid`. */
export const Cursor = Schema.String;

export const page = { before: opt(Cursor), limit: opt(Limit) };
export const threadParams = { threadId: Id };

export const omit = <F extends Schema.Struct.Fields, const K extends keyof F & string>(
  fields: F,
  keys: ReadonlyArray<K>,
) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !(keys as ReadonlyArray<string>).includes(key))) as Omit<
    F,
    K
  >;
