/** The scope of each call over RPC: the same rule, and the same refusal, as over HTTP (I17). */
import { Caller } from "@tributary/contracts/api";
import { Open, RpcAuthorization } from "@tributary/contracts/rpc";
import { Context, Effect } from "effect";
import { Audit } from "../auth/Audit.ts";
import { requireScope } from "../http/scopes.ts";

/** For the calls of one session; `caller` is who opened it. */
export const authorizationOf = (caller: Caller["Service"], audit: Audit["Service"]): RpcAuthorization["Service"] =>
  RpcAuthorization.of((call, { rpc }) => {
    const called = Effect.provideService(call, Caller, caller);
    if (Context.get(rpc.annotations, Open)) return called;
    return requireScope(caller, rpc.annotations, rpc._tag).pipe(
      Effect.provideService(Audit, audit),
      Effect.andThen(called),
    );
  });
