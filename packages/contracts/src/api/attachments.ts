/** Attachments: uploaded first, then named by inputs. The only bodies of the API that are not JSON. */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiError, HttpApiGroup, HttpApiSchema } from "effect/http-api";
import { UserAction } from "../commands.ts";
import { Id, Instant } from "../ids.ts";
import { Count, opt } from "../json.ts";
import { Authorization, RequiredScope } from "./access.ts";
import { BadRequest, Internal, NotFound, PayloadTooLarge, Unavailable, UnsupportedMediaType } from "./problems.ts";

/** Media types that may be attached. Images are held to their first bytes; SVG, which can hold scripts, is not among them. */
export const attachmentTypes = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "application/json",
  "application/x-ndjson",
  "application/xml",
  "application/yaml",
  "application/toml",
  "application/javascript",
  "application/typescript",
  "application/sql",
  "text/plain",
  "text/markdown",
  "text/csv",
  "text/tab-separated-values",
  "text/html",
  "text/css",
  "text/javascript",
  "text/xml",
  "text/yaml",
  "text/x-diff",
  "text/x-log",
] as const;
export type AttachmentType = (typeof attachmentTypes)[number];

export const AttachmentView = Schema.Struct({
  /** Random, to be named by inputs as `attachments: [{id}]`. Says nothing about the content. */
  attachmentId: Id,
  mediaType: Schema.String,
  /** In bytes. */
  size: Count,
  sha256: Schema.String,
  name: opt(Schema.String),
  createdAt: Instant,
}).annotate({
  identifier: "Attachment",
  examples: [
    {
      attachmentId: "att_q83vEjRWeJCrze8SNFZ4kA",
      mediaType: "image/png",
      size: 70,
      sha256: "f0b1f5d3b8c0b9f0f4f3c8a8fbc0c39c3f1d8d9c1e0f5a7b6c5d4e3f2a1b0c9d",
      name: "screen.png",
      createdAt: "2026-01-01T00:00:00.000Z",
    },
  ],
});
export type AttachmentView = typeof AttachmentView.Type;

/** All attachments together take the room that they may: purge threads, or delete attachments that no thread uses. */
export class AttachmentsFull extends HttpApiError.Problem<AttachmentsFull>()(
  "AttachmentsFull",
  { type: "urn:tributary:problem:attachments_full", status: 507, title: "No room for attachments" },
  { code: Schema.tag("attachments_full"), detail: Schema.String, userAction: UserAction },
) {}

/** A thread uses the attachment: it goes when the thread is purged. */
export class AttachmentInUse extends HttpApiError.Problem<AttachmentInUse>()(
  "AttachmentInUse",
  { type: "urn:tributary:problem:attachment_in_use", status: 409, title: "A thread uses the attachment" },
  { code: Schema.tag("attachment_in_use"), detail: Schema.String, userAction: UserAction },
) {}

const params = { attachmentId: Id };

export const AttachmentsApi = HttpApiGroup.make("attachments")
  .add(
    /** The body is the content, `Content-Type` its media type. Unused for a day, an attachment goes. */
    HttpApiEndpoint.post("upload", "/attachments", {
      headers: {
        /** One of `attachmentTypes`; the content must be what it says. */
        "content-type": Schema.String,
        /** What people call it, percent-encoded UTF-8; a label, never a path. */
        "x-filename": opt(Schema.String),
      },
      payload: HttpApiSchema.StreamUint8Array({ contentType: attachmentTypes }),
      success: AttachmentView,
      error: [BadRequest, PayloadTooLarge, UnsupportedMediaType, AttachmentsFull, Internal, Unavailable],
    }).annotate(RequiredScope, "operate"),
    /** The content, to be saved, never shown in place: `content-disposition: attachment`. */
    HttpApiEndpoint.get("download", "/attachments/:attachmentId", {
      params,
      success: HttpApiSchema.StreamUint8Array({ contentType: attachmentTypes }),
      error: [BadRequest, NotFound, Internal, Unavailable],
    }).annotate(RequiredScope, "observe"),
    /** Only while no thread uses it. */
    HttpApiEndpoint.delete("remove", "/attachments/:attachmentId", {
      params,
      success: Schema.Struct({ attachmentId: Id }),
      error: [BadRequest, NotFound, AttachmentInUse, Internal, Unavailable],
    }).annotate(RequiredScope, "operate"),
  )
  .middleware(Authorization);
