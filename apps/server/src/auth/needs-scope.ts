/** Finer rules than a route's scope: what some values of a call need beyond it. */
import type { AccessScope } from "@tributary/contracts/api";
import { Caller, Forbidden } from "@tributary/contracts/api";
import { Effect } from "effect";
import { Audit } from "./Audit.ts";
import { RemoteAddress } from "./reach.ts";

/** That a caller was refused for a scope it lacks; told once a minute for each thing it asks for. */
export const noteRefused = Effect.fnUntraced(function* (
  { id }: Pick<Caller["Service"], "id">,
  what: string,
  scope: AccessScope,
) {
  const audit = yield* Audit;
  const address = yield* RemoteAddress;
  yield* audit.noteSometimes(`scope ${id} ${what}`, "scope.refused", {
    by: id,
    address,
    detail: `${what} needs ${scope}`,
  });
});

/** Refuses a caller without the scope; `what` begins a sentence. */
export const needsScope = Effect.fnUntraced(function* (
  scope: AccessScope,
  what: string,
): Effect.fn.Return<void, Forbidden, Caller | Audit> {
  const caller = yield* Caller;
  if (caller.scopes.includes(scope)) return;
  yield* noteRefused(caller, what, scope);
  return yield* new Forbidden({
    detail: `${what} needs the scope “${scope}”, which this token lacks.`,
    userAction: "none",
  });
});
