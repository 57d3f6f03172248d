/** Who a token stands for. One token for now, the owner's; it may do everything. */
import type { Caller } from "@tributary/contracts/api";
import { Context, Effect, Layer } from "effect";
import { ensureToken, tokenFile, tokenVerifier } from "../config/token.ts";
import type { TokenError } from "../config/token.ts";

/** What the authorization gives to handlers as `Caller`. */
export type TokenHolder = Caller["Service"];

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly verify: (token: string) => TokenHolder | undefined;
    /** Where a person finds a token; part of what a refused caller is told. */
    readonly hint: string;
  }
>()("tributary/server/Tokens") {
  static readonly layer = (dir: string): Layer.Layer<Tokens, TokenError> =>
    Layer.effect(
      Tokens,
      Effect.map(ensureToken(dir), (token) => {
        const matches = tokenVerifier(token);
        return {
          verify: (sent) => (matches(sent) ? owner : undefined),
          hint: `the token is in ${tokenFile(dir)}`,
        };
      }),
    );

  /** For a caller inside this process: whatever it sends. */
  static readonly layerOwner: Layer.Layer<Tokens> = Layer.succeed(Tokens, { verify: () => owner, hint: "" });
}

/** Whoever runs the server. */
export const owner: TokenHolder = {
  id: "owner",
  person: "owner",
  scopes: ["observe", "answer", "operate", "diagnose", "admin"],
  revoked: Effect.never,
};
