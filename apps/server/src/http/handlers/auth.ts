import type { Device, Pairing } from "@tributary/contracts/api";
import { Api, Caller, cookieName, Internal } from "@tributary/contracts/api";
import { Clock, Duration, Effect, Layer, Option } from "effect";
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { Attempts } from "../../auth/Attempts.ts";
import { Audit } from "../../auth/Audit.ts";
import { Cookies } from "../../auth/Cookies.ts";
import { Devices } from "../../auth/Devices.ts";
import type { StoredDevice } from "../../auth/auth-file.ts";
import { needsScope } from "../../auth/needs-scope.ts";
import { defaultScopes, Pairings } from "../../auth/Pairings.ts";
import type { PairingFacts } from "../../auth/Pairings.ts";
import { isEncrypted, Reach, RemoteAddress } from "../../auth/reach.ts";
import { calls } from "../calls.ts";
import { badRequest, notFound } from "../problems.ts";
import { Tokens } from "../Tokens.ts";

const iso = (millis: number): string => new Date(millis).toISOString();
const failed = ({ message }: { readonly message: string }) => new Internal({ detail: message, userAction: "none" });

/** Everything but the hash. */
const shownDevice = Effect.fnUntraced(function* (
  device: StoredDevice,
): Effect.fn.Return<Device, never, Devices | Caller> {
  const devices = yield* Devices;
  const caller = yield* Caller;
  const { id, name, scopes, createdAt, expiresAt, lastSeenAt, revokedAt } = device;
  return {
    deviceId: id,
    name,
    scopes,
    state: devices.state(device),
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    ...(lastSeenAt === undefined ? {} : { lastSeenAt: iso(lastSeenAt) }),
    ...(revokedAt === undefined ? {} : { revokedAt: iso(revokedAt) }),
    current: caller.id === id,
  };
});

export const deviceCalls = calls("devices")({
  list: Effect.fnUntraced(function* () {
    const devices = yield* Devices;
    const { id, scopes } = yield* Caller;
    const visible = devices.all().filter((device) => scopes.includes("admin") || device.id === id);
    return { devices: yield* Effect.forEach(visible, shownDevice) };
  }),
  revoke: Effect.fnUntraced(function* ({ params: { deviceId } }) {
    const devices = yield* Devices;
    const audit = yield* Audit;
    const { id } = yield* Caller;
    if (deviceId !== id) yield* needsScope("admin", "Revoking another device");
    const revoked = yield* Effect.mapError(devices.revoke(deviceId), failed);
    if (revoked === undefined) return yield* notFound(`There is no device ${deviceId}; GET /devices lists them.`);
    yield* audit.note("device.revoked", { by: id, about: deviceId, detail: revoked.name });
    return yield* shownDevice(revoked);
  }),
});

const shownPairing = ({ id, state, scopes, expiresAt, claimedBy, deviceId }: PairingFacts): Pairing => ({
  pairingId: id,
  state,
  scopes,
  expiresAt: iso(expiresAt),
  ...(claimedBy === undefined ? {} : { claimedBy: { ...claimedBy, at: iso(claimedBy.at) } }),
  ...(deviceId === undefined ? {} : { deviceId }),
});

export const pairingCalls = calls("pairings")({
  start: Effect.fnUntraced(function* ({ payload: { scopes = defaultScopes, name } }) {
    const pairings = yield* Pairings;
    const { url, pin } = yield* Reach;
    const { id: by } = yield* Caller;
    const { pairing, code } = yield* pairings.start({ by, scopes, name });
    const expiresAt = iso(pairing.expiresAt);
    return { pairingId: pairing.id, code, url, ...(pin === undefined ? {} : { pin }), expiresAt };
  }),
  get: ({ params: { pairingId } }) => Pairings.use((pairings) => Effect.map(pairings.get(pairingId), shownPairing)),
  decide: Effect.fnUntraced(function* ({ params: { pairingId }, payload: { decision } }) {
    const pairings = yield* Pairings;
    const { id } = yield* Caller;
    return shownPairing(yield* pairings.decide(pairingId, decision, id));
  }),
});

export const claimCalls = calls("claims")({
  claim: Effect.fnUntraced(function* ({ payload: { code, name } }) {
    const pairings = yield* Pairings;
    const address = yield* RemoteAddress;
    yield* Attempts.use((attempts) => attempts.count("claim", address));
    const { pairing, secret } = yield* pairings.claim(code, { name, address });
    return { pairingId: pairing.id, secret, expiresAt: iso(pairing.expiresAt) };
  }),
  collect: Effect.fnUntraced(function* ({ params: { pairingId }, payload: { secret, waitMs = 0 } }) {
    const pairings = yield* Pairings;
    return yield* pairings.collect(pairingId, secret, waitMs).pipe(
      Effect.catchTags({
        AuthFileError: (error) => failed(error),
        NotFound: Effect.fnUntraced(function* (error) {
          const address = yield* RemoteAddress;
          yield* Attempts.use((attempts) => attempts.count("claim", address));
          return yield* error;
        }),
      }),
    );
  }),
});

const cookieOptions = { httpOnly: true, sameSite: "strict", path: "/" } as const;

/** The HTTP request of a call; over another wire there is none, and no cookie either. */
const httpRequest = Effect.flatMap(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) =>
  Option.isSome(request)
    ? Effect.succeed(request.value)
    : Effect.fail(badRequest("Cookies are set over HTTP: call this route with a browser.")),
);

/** Has the answer carry the cookie. */
const answerWith = (
  request: HttpServerRequest.HttpServerRequest,
  value: string,
  age: Duration.Duration,
): Effect.Effect<void, never, never> =>
  Effect.gen(function* () {
    const secure = isEncrypted(request, yield* Reach);
    yield* HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(
        HttpServerResponse.setCookieUnsafe(response, cookieName, value, { ...cookieOptions, secure, maxAge: age }),
      ),
    );
  }).pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request));

export const cookieCalls = calls("cookie")({
  set: Effect.fnUntraced(function* () {
    const request = yield* httpRequest;
    // A cookie must not prolong itself.
    if (request.headers["authorization"] === undefined)
      return yield* badRequest("Send the token: `Authorization: Bearer <token>` is traded for the cookie.");
    const holder = yield* Caller;
    const { value, expiresAt } = yield* Effect.mapError((yield* Tokens).makeCookie(holder), failed);
    yield* answerWith(request, value, Duration.millis(Math.max(0, expiresAt - (yield* Clock.currentTimeMillis))));
    return { expiresAt: iso(expiresAt) };
  }),
  clear: Effect.fnUntraced(function* () {
    const request = yield* httpRequest;
    const value = request.cookies[cookieName];
    if (value !== undefined) yield* Effect.mapError((yield* Cookies).remove(value), failed);
    yield* answerWith(request, "", Duration.zero);
    return { cleared: value !== undefined };
  }),
});

const firstEntries = 100;

export const auditCalls = calls("audit")({
  list: Effect.fnUntraced(function* ({ query: { before, limit = firstEntries } }) {
    const audit = yield* Audit;
    const number = before === undefined ? undefined : /^a:(\d{1,15})$/.exec(before)?.[1];
    if (before !== undefined && number === undefined)
      return yield* badRequest("`before` is what an earlier page gave.", ["query", "before"]);
    const entries = yield* Effect.mapError(
      audit.page({ limit, ...(number === undefined ? {} : { before: Number(number) }) }),
      failed,
    );
    const last = entries.at(-1);
    return { entries, ...(entries.length < limit || last === undefined ? {} : { before: `a:${last.n}` }) };
  }),
});

/** Devices, pairing, cookies, and what was done about them. */
export const auth = Layer.mergeAll(
  HttpApiBuilder.group(Api, "devices", (handlers) => handlers.handleAll(deviceCalls)),
  HttpApiBuilder.group(Api, "pairings", (handlers) => handlers.handleAll(pairingCalls)),
  HttpApiBuilder.group(Api, "claims", (handlers) => handlers.handleAll(claimCalls)),
  HttpApiBuilder.group(Api, "cookie", (handlers) => handlers.handleAll(cookieCalls)),
  HttpApiBuilder.group(Api, "audit", (handlers) => handlers.handleAll(auditCalls)),
);
