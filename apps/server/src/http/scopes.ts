/** A caller's scopes meet what a call asks for: one rule, one answer and one entry in the audit for every wire (I17). */
import { Caller, RequiredScope } from "@tributary/contracts/api";
import { Context, Effect } from "effect";
import { needsScope } from "../auth/needs-scope.ts";

/** `annotations` are the endpoint's, or those of the rpc that was made from it; `call` is `<group>.<endpoint>`. */
export const requireScope = (caller: Caller["Service"], annotations: Context.Context<never>, call: string) =>
  Effect.provideService(needsScope(Context.get(annotations, RequiredScope), call), Caller, caller);
