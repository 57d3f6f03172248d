/** The one place where a token becomes a caller, and the caller's scopes meet what the endpoint asks for (I17). */
import { Authorization, Caller, Forbidden, RequiredScope, Unauthorized } from "@tributary/contracts/api";
import { Context, Effect, Layer, Redacted } from "effect";
import { Tokens } from "./Tokens.ts";

const unauthorized = (sent: string, hint: string) =>
  new Unauthorized({
    detail: `${sent === "" ? "No token was sent" : "The token is not valid"}: send \`Authorization: Bearer <token>\`; ${hint}.`,
    userAction: "login",
  });

export const authorization: Layer.Layer<Authorization, never, Tokens> = Layer.effect(
  Authorization,
  Effect.map(Tokens, (tokens) => ({
    bearer: Effect.fnUntraced(function* (handler, { credential, endpoint }) {
      const sent = Redacted.value(credential);
      const holder = sent === "" ? undefined : tokens.verify(sent);
      if (holder === undefined) return yield* unauthorized(sent, tokens.hint);
      const scope = Context.get(endpoint.annotations, RequiredScope);
      if (!holder.scopes.includes(scope))
        return yield* new Forbidden({
          detail: `This token lacks the scope “${scope}” that the call needs.`,
          userAction: "none",
        });
      return yield* Effect.provideService(handler, Caller, holder);
    }),
  })),
);
