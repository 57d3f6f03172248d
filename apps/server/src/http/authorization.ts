/**
 * The one place where a token becomes a caller, and the caller's scopes meet what the endpoint asks for (I17). It runs
 * before anything of the body is read.
 */
import { Authorization, Caller, cookieName, Forbidden, Unauthorized } from "@tributary/contracts/api";
import { Effect, Layer, Redacted } from "effect";
import { HttpServerRequest } from "effect/http";
import { Attempts, networkOf } from "../auth/Attempts.ts";
import { Audit } from "../auth/Audit.ts";
import type { Checked } from "../auth/Devices.ts";
import { Devices } from "../auth/Devices.ts";
import { RemoteAddress } from "../auth/reach.ts";
import { cutOffWhen } from "./cut-off.ts";
import { requireScope } from "./scopes.ts";
import { owner, Tokens } from "./Tokens.ts";

const unauthorized = (detail: string) => new Unauthorized({ detail, userAction: "login" });

const refusedBecause: Readonly<Record<Extract<Checked, { readonly refused: string }>["refused"], string>> = {
  unknown: "is not valid",
  expired: "has expired: pair this device anew",
  revoked: "was revoked: pair this device anew",
};

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

/**
 * A browser sends a cookie by itself, so what changes something must come from a page of ours: one whose Origin passed
 * the edge, or one of which the browser says that it is ours. Programs that send neither have tokens.
 */
const fromOurPage = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["origin"] !== undefined || headers["sec-fetch-site"] === "same-origin";

export const authorization: Layer.Layer<Authorization, never, Tokens | Devices | Attempts | Audit> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const tokens = yield* Tokens;
    const devices = yield* Devices;
    const attempts = yield* Attempts;
    const audit = yield* Audit;

    /** The holder of what was sent; a wrong one counts against its address. */
    const admit = Effect.fnUntraced(function* (checked: Checked, what: string) {
      if ("holder" in checked) return checked.holder;
      const { refused } = checked;
      const address = yield* RemoteAddress;
      // By network: who has a whole one could turn the record over with its addresses.
      yield* audit.noteSometimes(`token ${networkOf(address)} ${refused}`, "token.refused", {
        address,
        detail: refused,
      });
      yield* attempts.count("token", address);
      return yield* unauthorized(
        `The ${what} ${refusedBecause[refused]}${refused === "unknown" ? `: send \`Authorization: Bearer <token>\`; ${tokens.hint}` : ""}.`,
      );
    });

    const identify = Effect.fnUntraced(function* (sent: string) {
      if (sent !== "") return yield* admit(tokens.check(sent), "token");
      const request = yield* HttpServerRequest.HttpServerRequest;
      const cookie = request.cookies[cookieName];
      if (cookie === undefined || request.headers["authorization"] !== undefined)
        return yield* unauthorized(`No token was sent: send \`Authorization: Bearer <token>\`; ${tokens.hint}.`);
      if (!isSafe(request.method) && !fromOurPage(request))
        return yield* new Forbidden({
          detail:
            "A cookie alone changes nothing: call from a page of this server or an allowed origin, or send the token.",
          userAction: "none",
        });
      return yield* admit(tokens.checkCookie(cookie), "cookie");
    });

    return {
      // Declared so that the document names it; `bearer`, which is asked next, looks at both and says what was wrong.
      cookie: () => unauthorized("No token was sent."),
      bearer: Effect.fnUntraced(function* (handler, { credential, endpoint, group }) {
        const holder = yield* identify(Redacted.value(credential));
        const call = `${group.identifier}.${endpoint.identifier}`;
        yield* Effect.provideService(requireScope(holder, endpoint.annotations, call), Audit, audit);
        if (holder.id !== owner.id) {
          yield* devices.seen(holder.id);
          yield* cutOffWhen(holder.revoked);
        }
        return yield* Effect.provideService(handler, Caller, holder);
      }),
    };
  }),
);
