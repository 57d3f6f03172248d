/** Who a token, or a browser's cookie, stands for: the owner, or one of the owner's devices. */
import type { Caller } from "@tributary/contracts/api";
import { Context, Effect, Layer } from "effect";
import type { AuthFileError, StoredCookie } from "../auth/auth-file.ts";
import { Cookies } from "../auth/Cookies.ts";
import { Devices } from "../auth/Devices.ts";
import type { Checked } from "../auth/Devices.ts";
import { hashOf } from "../auth/secrets.ts";
import { ensureToken, tokenFile, tokenVerifier } from "../config/token.ts";
import type { TokenError } from "../config/token.ts";

/** What the authorization gives to handlers as `Caller`. */
export type TokenHolder = Caller["Service"];

export class Tokens extends Context.Service<
  Tokens,
  {
    /** The holder of a token that holds. */
    readonly verify: (token: string) => TokenHolder | undefined;
    /** The same, and else why not. */
    readonly check: (token: string) => Checked;
    readonly checkCookie: (value: string) => Checked;
    /** A cookie that stands for a holder, until its token ends. */
    readonly makeCookie: (
      holder: TokenHolder,
    ) => Effect.Effect<{ readonly value: string; readonly expiresAt: number }, AuthFileError>;
    /** Where a person finds a token; part of what a refused caller is told. */
    readonly hint: string;
  }
>()("tributary/server/Tokens") {
  /** The owner's token is in its file, those of devices are hashed in theirs. */
  static readonly layer = (dir: string): Layer.Layer<Tokens, TokenError, Devices | Cookies> =>
    Layer.effect(
      Tokens,
      Effect.gen(function* () {
        const token = yield* ensureToken(dir);
        const devices = yield* Devices;
        const cookies = yield* Cookies;
        const isOwner = tokenVerifier(token);
        // Kept with the owner's cookies: another token, other cookies.
        const ownersMark = hashOf(`cookie ${token}`);
        const check = (sent: string): Checked => (isOwner(sent) ? { holder: owner } : devices.check(sent));
        const ofCookie = (cookie: StoredCookie): Checked => {
          if (cookie.holder !== owner.id) return devices.checkId(cookie.holder);
          return cookie.owner === ownersMark ? { holder: owner } : { refused: "unknown" };
        };
        return {
          check,
          verify: (sent) => holderOf(check(sent)),
          checkCookie: (value) => {
            const cookie = cookies.find(value);
            return cookie === undefined ? { refused: "unknown" } : ofCookie(cookie);
          },
          makeCookie: ({ id }) => {
            const until = devices.get(id)?.expiresAt;
            return cookies.add({
              holder: id,
              ...(id === owner.id ? { owner: ownersMark } : {}),
              ...(until === undefined ? {} : { until }),
            });
          },
          hint: `the owner's token is in ${tokenFile(dir)}; \`tributary pair\` makes one for another device`,
        };
      }),
    );

  /** For a caller inside this process: whatever it sends. */
  static readonly layerOwner: Layer.Layer<Tokens> = Layer.succeed(Tokens, {
    verify: () => owner,
    check: () => ({ holder: owner }),
    checkCookie: () => ({ refused: "unknown" }),
    makeCookie: () => Effect.die("There are no cookies inside the process."),
    hint: "",
  });
}

export const holderOf = (checked: Checked): TokenHolder | undefined =>
  "holder" in checked ? checked.holder : undefined;

/** Whoever runs the server. */
export const owner: TokenHolder = {
  id: "owner",
  person: "owner",
  scopes: ["observe", "answer", "operate", "diagnose", "admin"],
  revoked: Effect.never,
};
