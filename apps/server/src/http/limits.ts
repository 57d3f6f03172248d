/** What clients must stay within; told by `GET /limits`. */
import { attachmentTypes } from "@tributary/contracts/api";

/** JSON bodies, in bytes. An input may have 1 MiB code units, each up to six bytes once it is escaped. */
export const maxBodyBytes = 8 * 1024 * 1024;

export const limits = {
  maxBodyBytes,
  maxInputCodeUnits: 1_048_576,
  maxPageEvents: 1000,
  maxPageBytes: 1024 * 1024,
  pingIntervalMs: 10_000,
  receiptDays: 30,
  maxAttachmentBytes: 20 * 1024 * 1024,
  maxAttachmentsTotalBytes: 2 * 1024 * 1024 * 1024,
  maxInputAttachments: 32,
  unusedAttachmentHours: 24,
  attachmentTypes,
} as const;
