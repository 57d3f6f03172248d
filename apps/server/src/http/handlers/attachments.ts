/** Attachments: contents come and go as streams, and are named by ids that say nothing. */
import {
  Api,
  AttachmentInUse,
  AttachmentsFull,
  attachmentTypes,
  Caller,
  PayloadTooLarge,
  UnsupportedMediaType,
} from "@tributary/contracts/api";
import type { AttachmentView } from "@tributary/contracts/api";
import { AttachmentRefused, Attachments, StoreError } from "@tributary/store";
import type { StoredAttachment } from "@tributary/store";
import { DateTime, Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import { HttpApiBuilder, HttpApiError } from "effect/http-api";
import { checked } from "../attachments/checked.ts";
import { dispositionOf, fileNameOf } from "../attachments/file-names.ts";
import { AttachmentLimits } from "../attachments/limits.ts";
import { attachable } from "../attachments/media-types.ts";
import { calls } from "../calls.ts";
import { badRequest, notFound, storeProblem } from "../problems.ts";

const viewOf = ({ id, mediaType, size, hash, name, createdAt }: StoredAttachment): AttachmentView => ({
  attachmentId: id,
  mediaType,
  size,
  sha256: hash,
  createdAt: DateTime.formatIso(DateTime.makeUnsafe(createdAt)),
  ...(name === undefined ? {} : { name }),
});

const mebibytes = (bytes: number): string => `${Math.round((bytes / 1024 / 1024) * 10) / 10} MiB`;

const refusal = ({ reason, limit }: AttachmentRefused): PayloadTooLarge | AttachmentsFull =>
  reason === "too_large"
    ? new PayloadTooLarge({
        detail: `An attachment may have ${limit} bytes (GET /limits): send a smaller one, or put it into the thread's folder.`,
        userAction: "shorten",
      })
    : new AttachmentsFull({
        detail: `All attachments together may take ${mebibytes(limit)}, and this one would be more: purge threads with attachments (DELETE /threads/:id?purge=true), or delete attachments that no thread uses (DELETE /attachments/:id).`,
        userAction: "none",
      });

const unknown = (id: string) =>
  notFound(
    `There is no attachment ${id}: it was never uploaded, was purged with its thread, or nobody used it for a day.`,
  );

/** One whose content can be read, and where that is. */
const whole = Effect.fnUntraced(function* (id: string) {
  const attachments = yield* Attachments;
  const attachment = attachments.find(id);
  if (attachment === undefined) return yield* unknown(id);
  const path = attachments.path(id);
  if (path === undefined)
    return yield* notFound(
      `The content of attachment ${id} has expired: its file is gone or damaged. Attach it again.`,
    );
  return { attachment, content: attachments.content(path) };
});

/** As the API declares them; over HTTP a download has headers as well. */
export const attachmentCalls = calls("attachments")({
  upload: Effect.fnUntraced(function* ({ headers, payload }) {
    const attachments = yield* Attachments;
    const { id: owner } = yield* Caller;
    const limits = yield* AttachmentLimits;
    const type = attachable(headers["content-type"]);
    if (type === undefined)
      return yield* new UnsupportedMediaType({
        detail: `${headers["content-type"]} can't be attached; send one of ${attachmentTypes.join(", ")}.`,
        userAction: "none",
      });
    const named = headers["x-filename"] === undefined ? undefined : fileNameOf(headers["x-filename"]);
    if (named !== undefined && "refused" in named)
      return yield* badRequest(`The name can't be taken: ${named.refused}.`, ["headers", "x-filename"]);
    const stored = yield* attachments
      .put(checked(payload, type), { mediaType: type, name: named?.name, owner, ...limits })
      .pipe(
        Effect.mapError((error) => {
          if (error instanceof AttachmentRefused) return refusal(error);
          if (HttpApiError.HttpApiPayloadTooLarge.is(error))
            return refusal(new AttachmentRefused({ reason: "too_large", limit: limits.maxBytes }));
          return error instanceof StoreError ? storeProblem(error) : error;
        }),
      );
    return viewOf(stored);
  }),
  download: ({ params: { attachmentId } }) => Effect.map(whole(attachmentId), ({ content }) => content),
  remove: Effect.fnUntraced(function* ({ params: { attachmentId } }) {
    const attachments = yield* Attachments;
    const done = yield* Effect.mapError(attachments.remove(attachmentId), storeProblem);
    if (done === "unknown") return yield* unknown(attachmentId);
    if (done === "in_use")
      return yield* new AttachmentInUse({
        detail: `A thread uses attachment ${attachmentId}: it goes when the thread is purged.`,
        userAction: "none",
      });
    return { attachmentId };
  }),
});

/** A browser saves it, whatever it is: nothing that somebody attached runs or shows under this server's name. */
const download = Effect.fnUntraced(function* ({ params }: { readonly params: { readonly attachmentId: string } }) {
  const { attachment, content } = yield* whole(params.attachmentId);
  const { mediaType, size, name } = attachment;
  return HttpServerResponse.stream(content, {
    contentType: mediaType,
    contentLength: size,
    headers: {
      "content-disposition": dispositionOf(name),
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "same-origin",
    },
  });
});

export const attachments = HttpApiBuilder.group(Api, "attachments", (handlers) =>
  handlers.handleAll({ ...attachmentCalls, download }),
);
