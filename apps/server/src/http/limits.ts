/** What clients must stay within; told by `GET /limits`. */

/** JSON bodies, in bytes. An input's text alone may have 1 MiB code units; longer ones are attachments. */
export const maxBodyBytes = 1024 * 1024;

export const limits = {
  maxBodyBytes,
  maxInputCodeUnits: 1_048_576,
  maxPageEvents: 1000,
  maxPageBytes: 1024 * 1024,
  pingIntervalMs: 10_000,
  receiptDays: 30,
} as const;
