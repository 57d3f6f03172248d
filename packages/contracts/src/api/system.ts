/** Liveness, build, limits, counters and settings. */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api";
import { Count, opt } from "../json.ts";
import { Authorization, RequiredScope } from "./access.ts";
import { BadRequest, Internal, PayloadTooLarge, Unavailable, UnsupportedMediaType } from "./problems.ts";

export const SystemApi = HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health", {
    success: Schema.Struct({ status: Schema.Literals(["ok", "starting"]) }),
  }),
  HttpApiEndpoint.get("version", "/version", {
    success: Schema.Struct({
      version: Schema.String,
      /** Raised when a client that knows an older one would misread something. */
      protocol: Count,
      minimalClient: Schema.String,
    }),
  }),
);

/** What a client must stay within. Sizes in bytes unless the name says otherwise. */
export const Limits = Schema.Struct({
  /** Of a request's headers. */
  maxHeaderBytes: Count,
  headersTimeoutMs: Count,
  requestTimeoutMs: Count,
  maxConnections: Count,
  /** By one address. */
  maxRequestsPer10s: Count,
  /** By one address; a right token passes before they are counted. */
  maxWrongTokensPerMinute: Count,
  maxPairingAttemptsPerMinute: Count,
  maxBodyBytes: Count,
  /** Of a body that comes without a right token. */
  maxStrangerBodyBytes: Count,
  maxInputCodeUnits: Count,
  maxPageEvents: Count,
  maxPageBytes: Count,
  pingIntervalMs: Count,
  /** Of WebSockets (`/rpc`): one message. */
  maxMessageBytes: Count,
  maxSockets: Count,
  /** Calls of one WebSocket that are not over, streams among them. */
  maxCallsPerSocket: Count,
  /** Faster ones wait. */
  maxMessagesPerSecond: Count,
  receiptDays: Count,
  maxAttachmentBytes: Count,
  /** Of all attachments together. */
  maxAttachmentsTotalBytes: Count,
  /** Of one input. */
  maxInputAttachments: Count,
  /** What no thread uses is kept so long. */
  unusedAttachmentHours: Count,
  attachmentTypes: Schema.Array(Schema.String),
}).annotate({ identifier: "Limits" });

/** Settings of the data folder, kept in its configuration file. Absent ones have their default. */
export const Settings = Schema.Struct({
  /** Origins beside our own that may call from a browser, exactly as browsers send them: `https://app.example`. */
  allowedOrigins: opt(Schema.Array(Schema.String)),
  /** Host names beside the loopback ones under which we may be called, without port. */
  allowedHosts: opt(Schema.Array(Schema.String)),
  /** `full` (default) survives power loss after each acknowledgement; `normal` a crash of the process. At the next start. */
  durability: opt(Schema.Literals(["full", "normal"])),
  /** What enters the log of what agents think: everything (default), summaries, or nothing. At the next start. */
  reasoning: opt(Schema.Literals(["summary", "full", "off"])),
  /** Journal records older than this may go: 30 days by default; 0 keeps them whatever their age. */
  journalMaxAgeDays: opt(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The journal's oldest records may go while it takes more bytes than this: 4 GiB by default; 0 sets no limit. */
  journalMaxBytes: opt(Count),
  /** Days after which what a deleted thread said is erased for good: 30 by default, 0 at once, or `never`. */
  purgeDeletedAfterDays: opt(Schema.Union([Count, Schema.Literal("never")])),
}).annotate({ identifier: "Settings" });
export type Settings = typeof Settings.Type;

export const SettingsApi = HttpApiGroup.make("settings", { topLevel: true })
  .add(
    HttpApiEndpoint.get("limits", "/limits", { success: Limits }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("metrics", "/metrics", {
      success: Schema.Struct({
        /** Since when the counters count. */
        since: Schema.String,
        values: Schema.Record(Schema.String, Schema.Finite),
      }),
      error: [Internal, Unavailable],
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("settings", "/settings", {
      success: Schema.Struct({
        settings: Settings,
        /** The configuration file can't be read as it is now; the last good one is in force. */
        problem: opt(Schema.String),
      }),
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.patch("changeSettings", "/settings", {
      payload: Settings,
      success: Settings,
      error: [BadRequest, PayloadTooLarge, UnsupportedMediaType, Internal],
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);
