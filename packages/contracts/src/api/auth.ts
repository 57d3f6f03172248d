/** Devices, pairing, the browser's cookie, and what was done about them (design section 10, I17). */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api";
import { Id, Instant } from "../ids.ts";
import { Count, opt } from "../json.ts";
import { AccessScope, Authorization, RequiredScope } from "./access.ts";
import {
  BadRequest,
  Forbidden,
  Internal,
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  UnsupportedMediaType,
} from "./problems.ts";
import { Cursor, Limit } from "./shared.ts";

const Scopes = Schema.Array(AccessScope).check(Schema.isMinLength(1));
/** What a person calls a device. */
const Name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100));

/** A client with a token of its own. The token itself is known to the device alone. */
export const Device = Schema.Struct({
  deviceId: Id,
  name: Schema.String,
  scopes: Schema.Array(AccessScope),
  state: Schema.Literals(["active", "expired", "revoked"]),
  createdAt: Instant,
  expiresAt: Instant,
  /** To the hour. */
  lastSeenAt: opt(Instant),
  revokedAt: opt(Instant),
  /** Whether it is the one that asks. */
  current: Schema.Boolean,
}).annotate({
  identifier: "Device",
  examples: [
    {
      deviceId: "device-3Zk0",
      name: "Pixel 9",
      scopes: ["observe", "answer", "operate"],
      state: "active",
      createdAt: "2026-01-01T00:00:00.000Z",
      expiresAt: "2026-04-01T00:00:00.000Z",
      lastSeenAt: "2026-01-02T15:00:00.000Z",
      current: false,
    },
  ],
});
export type Device = typeof Device.Type;

const deviceErrors = [Forbidden, NotFound, Internal] as const;
const bodyErrors = [BadRequest, PayloadTooLarge, UnsupportedMediaType] as const;

export const DevicesApi = HttpApiGroup.make("devices")
  .add(
    /** All devices; without the scope admin the caller's own alone. */
    HttpApiEndpoint.get("list", "/devices", {
      success: Schema.Struct({ devices: Schema.Array(Device) }),
      error: deviceErrors,
    }).annotate(RequiredScope, "observe"),
    /** Its token ends at once, and its streams within a second. With admin any device, without it oneself. */
    HttpApiEndpoint.delete("revoke", "/devices/:deviceId", {
      params: { deviceId: Id },
      success: Device,
      error: deviceErrors,
    }).annotate(RequiredScope, "observe"),
  )
  .middleware(Authorization);

/**
 * waiting: for somebody with the code. claimed: somebody has it; confirm or refuse. confirmed: the device may collect its
 * token. collected: it has it. refused, expired: over.
 */
export const PairingState = Schema.Literals(["waiting", "claimed", "confirmed", "collected", "refused", "expired"]);
export type PairingState = typeof PairingState.Type;

export const Pairing = Schema.Struct({
  pairingId: Id,
  state: PairingState,
  scopes: Schema.Array(AccessScope),
  expiresAt: Instant,
  /** Who claimed it: by its own word, and from where the claim came. */
  claimedBy: opt(Schema.Struct({ name: Schema.String, address: Schema.String, at: Instant })),
  /** Once it is collected. */
  deviceId: opt(Id),
}).annotate({
  identifier: "Pairing",
  examples: [
    {
      pairingId: "pairing-Q1w2",
      state: "claimed",
      scopes: ["observe", "answer", "operate"],
      expiresAt: "2026-01-01T00:05:00.000Z",
      claimedBy: { name: "Pixel 9", address: "192.168.1.33", at: "2026-01-01T00:01:00.000Z" },
    },
  ],
});
export type Pairing = typeof Pairing.Type;

export const StartedPairing = Schema.Struct({
  pairingId: Id,
  /** Typed or scanned on the other device. Once. */
  code: Schema.String,
  /** Where the other device finds this server. */
  url: Schema.String,
  /** With TLS: `sha256/…` of the server's public key (SPKI), base64. Compare it before the code is sent. */
  pin: opt(Schema.String),
  expiresAt: Instant,
}).annotate({
  identifier: "StartedPairing",
  examples: [
    {
      pairingId: "pairing-Q1w2",
      code: "K7QMD-2X9TA",
      url: "https://192.168.1.20:4417",
      pin: "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      expiresAt: "2026-01-01T00:05:00.000Z",
    },
  ],
});
export type StartedPairing = typeof StartedPairing.Type;

const pairingParams = { pairingId: Id };
const pairingErrors = [NotFound, Internal] as const;

export const PairingsApi = HttpApiGroup.make("pairings")
  .add(
    HttpApiEndpoint.post("start", "/pairings", {
      payload: Schema.Struct({
        /** Of the new device; by default observe, answer and operate. */
        scopes: opt(Scopes),
        /** What the device will be called; by default what it says of itself. */
        name: opt(Name),
      }),
      success: StartedPairing,
      error: [...bodyErrors, TooManyRequests, Internal],
    }).annotate(RequiredScope, "admin"),
    HttpApiEndpoint.get("get", "/pairings/:pairingId", {
      params: pairingParams,
      success: Pairing,
      error: pairingErrors,
    }).annotate(RequiredScope, "admin"),
    /** Only a claimed pairing can be confirmed; refusing ends it at any time. */
    HttpApiEndpoint.post("decide", "/pairings/:pairingId/decision", {
      params: pairingParams,
      payload: Schema.Struct({ decision: Schema.Literals(["confirm", "refuse"]) }),
      success: Pairing,
      error: [...bodyErrors, ...pairingErrors],
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);

export const Collected = Schema.Union([
  Schema.Struct({ state: Schema.Literals(["waiting", "refused", "expired", "collected"]) }),
  Schema.Struct({
    state: Schema.Literal("confirmed"),
    /** Told this once. */
    token: Schema.String,
    deviceId: Id,
    name: Schema.String,
    scopes: Schema.Array(AccessScope),
    expiresAt: Instant,
  }),
]).annotate({ identifier: "Collected", examples: [{ state: "waiting" }] });
export type Collected = typeof Collected.Type;

/** What a device without a token may do: claim a pairing with its code, then collect its token with its secret. */
export const ClaimsApi = HttpApiGroup.make("claims").add(
  HttpApiEndpoint.post("claim", "/pairings/claim", {
    payload: Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(64)), name: Name }),
    /** `secret` proves at `collect` that it is the same device. */
    success: Schema.Struct({ pairingId: Id, secret: Schema.String, expiresAt: Instant }),
    error: [...bodyErrors, NotFound, TooManyRequests, Internal],
  }),
  HttpApiEndpoint.post("collect", "/pairings/:pairingId/token", {
    params: pairingParams,
    payload: Schema.Struct({
      secret: Schema.String.check(Schema.isMaxLength(128)),
      /** How long to wait for the decision, in milliseconds; at most 25 s. Default: not at all. */
      waitMs: opt(Count),
    }),
    success: Collected,
    error: [...bodyErrors, NotFound, TooManyRequests, Internal],
  }),
);

export const CookieApi = HttpApiGroup.make("cookie")
  .add(
    /** Trades the bearer token for an HttpOnly cookie, for pages. It ends with the token. */
    HttpApiEndpoint.post("set", "/auth/cookie", {
      success: Schema.Struct({ expiresAt: Instant }),
      error: [BadRequest, Internal],
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.delete("clear", "/auth/cookie", {
      success: Schema.Struct({ cleared: Schema.Boolean }),
      error: [BadRequest, Internal],
    }).annotate(RequiredScope, "observe"),
  )
  .middleware(Authorization);

export const AuditType = Schema.Literals([
  "pairing.started",
  "pairing.claimed",
  "pairing.confirmed",
  "pairing.refused",
  "pairing.expired",
  "device.added",
  "device.revoked",
  "token.refused",
  "scope.refused",
  "full_access.granted",
]);
export type AuditType = typeof AuditType.Type;

export const AuditEntry = Schema.Struct({
  /** Rises by one; gaps are where old entries were let go. */
  n: Count,
  at: Instant,
  type: AuditType,
  /** Who did it: `owner`, or a device's id; absent for a stranger. */
  by: opt(Schema.String),
  /** From where, where that is known. */
  address: opt(Schema.String),
  /** The device, pairing or thread that it is about. */
  about: opt(Schema.String),
  detail: opt(Schema.String),
}).annotate({
  identifier: "AuditEntry",
  examples: [
    {
      n: 7,
      at: "2026-01-01T00:01:00.000Z",
      type: "pairing.confirmed",
      by: "owner",
      about: "pairing-Q1w2",
      detail: "Pixel 9",
    },
  ],
});
export type AuditEntry = typeof AuditEntry.Type;

export const AuditApi = HttpApiGroup.make("audit")
  .add(
    /** The newest first. What repeats within a minute is told once. */
    HttpApiEndpoint.get("list", "/audit", {
      query: { before: opt(Cursor), limit: opt(Limit) },
      success: Schema.Struct({ entries: Schema.Array(AuditEntry), before: opt(Cursor) }),
      error: [BadRequest, Internal],
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);
