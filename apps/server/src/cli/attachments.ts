/** Files that go along with an input (`--attach`): uploaded first, then named. */
import { openAsBlob } from "node:fs";
import { basename, extname } from "node:path";
import type { AttachmentType, AttachmentView } from "@tributary/contracts/api";
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import type { Access } from "./client.ts";
import { failure, usage } from "./failure.ts";
import type { CliFailure } from "./failure.ts";

const byExtension: Readonly<Record<string, AttachmentType>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  json: "application/json",
  ndjson: "application/x-ndjson",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  toml: "application/toml",
  js: "application/javascript",
  ts: "application/typescript",
  sql: "application/sql",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  css: "text/css",
  diff: "text/x-diff",
  patch: "text/x-diff",
  log: "text/x-log",
};

/** By its name; the server looks at the content. What has no known ending counts as text. */
export const mediaTypeOf = (path: string): AttachmentType =>
  byExtension[extname(path).slice(1).toLowerCase()] ?? "text/plain";

interface Problem {
  readonly detail: string;
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "detail" in value && typeof value.detail === "string";

const attachOne = Effect.fnUntraced(function* (access: Access, path: string): Effect.fn.Return<string, CliFailure> {
  const type = mediaTypeOf(path);
  const blob = yield* Effect.tryPromise({
    try: () => openAsBlob(path, { type }),
    catch: () => usage(`${path} can't be read: name a file with --attach.`),
  });
  const response = yield* Effect.tryPromise({
    try: () =>
      access.fetch(`${access.baseUrl}/attachments`, {
        method: "POST",
        body: blob,
        headers: {
          authorization: `Bearer ${access.token}`,
          "content-type": type,
          "x-filename": encodeURIComponent(basename(path)),
        },
      }),
    catch: clientFailure(access),
  });
  const answer: unknown = yield* Effect.tryPromise({ try: () => response.json(), catch: clientFailure(access) });
  if (response.status === 415)
    return yield* failure(
      `${path} can't be attached: its content is not ${type}, as its name says. Pictures, PDF and text can be.`,
    );
  if (!response.ok)
    return yield* failure(`${path} can't be attached: ${isProblem(answer) ? answer.detail : response.status}`);
  return (answer as AttachmentView).attachmentId;
});

/** Uploads files, and returns how an input names them. Nothing for none. */
export const attachFiles = (
  access: Access,
  paths: ReadonlyArray<string>,
): Effect.Effect<{ readonly attachments?: ReadonlyArray<{ readonly id: string }> }, CliFailure> =>
  paths.length === 0
    ? Effect.succeed({})
    : Effect.map(
        Effect.forEach(paths, (path) => attachOne(access, path)),
        (ids) => ({ attachments: ids.map((id) => ({ id })) }),
      );
