/** Deleting a thread, and erasing one for good. */
import type { Receipt } from "@tributary/contracts";
import { Caller, Forbidden } from "@tributary/contracts/api";
import { Engine } from "@tributary/engine";
import { EventLog } from "@tributary/store";
import { Effect } from "effect";
import { commandIdOf, dispatch } from "./commands.ts";
import { storeProblem } from "./problems.ts";

type Accepted = Extract<Receipt, { readonly status: "accepted" }>;

/** What was deleted before can still be purged: then there is nothing to delete, and the purge is what counts. */
const purge = Effect.fnUntraced(function* (threadId: string, commandId: string) {
  const engine = yield* Engine;
  const { head } = yield* EventLog;
  const deleted = yield* Effect.result(dispatch({ type: "thread.delete", commandId, threadId }));
  if (deleted._tag === "Failure") {
    const error = deleted.failure;
    if (error._tag !== "CommandRejected" || error.code !== "thread_deleted") return yield* error;
  }
  yield* Effect.mapError(engine.purge(threadId), storeProblem);
  const sequence = yield* Effect.mapError(head, storeProblem);
  return { status: "accepted", commandId, sequence } satisfies Accepted;
});

/** `purge=true` resolves when the erasing is committed; the files follow within moments. It may be repeated. */
export const removeThread = Effect.fnUntraced(function* ({
  headers,
  params: { threadId },
  query,
}: {
  readonly headers: { readonly "idempotency-key"?: string };
  readonly params: { readonly threadId: string };
  readonly query: { readonly purge?: "true" | "false" };
}) {
  const commandId = commandIdOf(headers);
  if (query.purge !== "true") return yield* dispatch({ type: "thread.delete", commandId, threadId });
  const { scopes } = yield* Caller;
  if (!scopes.includes("admin"))
    return yield* new Forbidden({ detail: "To erase for good the token needs the scope “admin”.", userAction: "none" });
  return yield* purge(threadId, commandId);
});
