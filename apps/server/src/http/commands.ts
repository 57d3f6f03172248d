/** From a request to a command: its id, the ids that follow from it, and the answer to its receipt. */
import { createHash, randomUUID } from "node:crypto";
import type { ClientCommand, Receipt } from "@tributary/contracts";
import { Caller } from "@tributary/contracts/api";
import { Engine } from "@tributary/engine";
import { Effect } from "effect";
import { rejected, storeProblem } from "./problems.ts";

/** The caller's, so that it may repeat the call; else one of our own. */
export const commandIdOf = (headers: { readonly "idempotency-key"?: string }): string =>
  headers["idempotency-key"] ?? randomUUID();

/**
 * The id of what a command makes, where the caller named none. It follows from the commandId: the same call repeated
 * means the same thing.
 */
export const derivedId = (commandId: string, kind: string): string =>
  `${kind}-${createHash("sha256").update(`${kind}\n${commandId}`).digest("base64url").slice(0, 22)}`;

export type Accepted = Extract<Receipt, { readonly status: "accepted" }>;

/** Has a command decided. A refusal is the problem `command_rejected` with its own code. */
export const dispatch = Effect.fn("http.dispatch")(function* (command: ClientCommand) {
  const engine = yield* Engine;
  const caller = yield* Caller;
  // What was read was read by the person, on whichever device.
  const id = command.type === "thread.read" ? caller.person : caller.id;
  const receipt = yield* Effect.mapError(engine.dispatch(command, { kind: "client", id }), storeProblem);
  return receipt.status === "accepted" ? receipt : yield* rejected(receipt.commandId, receipt.rejection);
});
