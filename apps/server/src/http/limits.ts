/** What clients must stay within; told by `GET /limits`. */
import { attachmentTypes } from "@tributary/contracts/api";
import { attemptLimits } from "../auth/Attempts.ts";

/** JSON bodies, in bytes. An input may have 1 MiB code units, each up to six bytes once it is escaped. */
export const maxBodyBytes = 8 * 1024 * 1024;

/** A request's headers, in bytes, and how long they and the whole request may take, in milliseconds. */
export const connectionLimits = {
  maxHeaderBytes: 32 * 1024,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 300_000,
  maxConnections: 10_000,
} as const;

export const limits = {
  ...connectionLimits,
  /** By one address: all requests in 10 s; wrong tokens, and attempts to pair, in a minute. */
  maxRequestsPer10s: attemptLimits.request.attempts,
  maxWrongTokensPerMinute: attemptLimits.token.attempts,
  maxPairingAttemptsPerMinute: attemptLimits.claim.attempts,
  maxBodyBytes,
  /** Without a right token: enough to claim a pairing. */
  maxStrangerBodyBytes: 16 * 1024,
  maxInputCodeUnits: 1_048_576,
  maxPageEvents: 1000,
  maxPageBytes: 1024 * 1024,
  pingIntervalMs: 10_000,
  /** Of WebSockets: one message; all of them; calls of one that are not over, streams among them; messages of one. */
  maxMessageBytes: maxBodyBytes,
  maxSockets: 2000,
  maxCallsPerSocket: 128,
  maxMessagesPerSecond: 2000,
  receiptDays: 30,
  maxAttachmentBytes: 20 * 1024 * 1024,
  maxAttachmentsTotalBytes: 2 * 1024 * 1024 * 1024,
  maxInputAttachments: 32,
  unusedAttachmentHours: 24,
  attachmentTypes,
} as const;
