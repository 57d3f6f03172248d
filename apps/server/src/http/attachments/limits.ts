/** How much may be attached. In bytes. */
import { Context } from "effect";
import { limits } from "../limits.ts";

export interface AttachmentRoom {
  readonly maxBytes: number;
  /** Of all contents together. */
  readonly maxTotalBytes: number;
}

export class AttachmentLimits extends Context.Reference<AttachmentRoom>("tributary/server/AttachmentLimits", {
  defaultValue: () => ({ maxBytes: limits.maxAttachmentBytes, maxTotalBytes: limits.maxAttachmentsTotalBytes }),
}) {}
