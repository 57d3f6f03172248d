/** Whether a content is what it says it is: images and PDF by their first bytes, text by holding none of those. Pure. */
import { attachmentTypes } from "@tributary/contracts/api";
import type { AttachmentType } from "@tributary/contracts/api";

/** As many bytes of a content as are looked at. */
export const headBytes = 512;

type Signature = ReadonlyArray<readonly [offset: number, text: string]>;

/** First bytes, as Latin-1. */
const signatures: ReadonlyArray<readonly [type: AttachmentType, signature: Signature]> = [
  ["image/png", [[0, "\u0089PNG\r\n\u001a\n"]]],
  ["image/jpeg", [[0, "\u00ff\u00d8\u00ff"]]],
  ["image/gif", [[0, "GIF87a"]]],
  ["image/gif", [[0, "GIF89a"]]],
  [
    "image/webp",
    [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  ],
  ["application/pdf", [[0, "%PDF-"]]],
];

/** Known by its first bytes; everything else that may be attached is text. */
const isSigned = (type: AttachmentType): boolean => signatures.some(([signed]) => signed === type);

const typeOf = (text: string): AttachmentType | undefined =>
  signatures.find(([, signature]) => signature.every(([offset, bytes]) => text.startsWith(bytes, offset)))?.[0];

/** The media type of a `Content-Type` that may be attached. */
export const attachable = (contentType: string): AttachmentType | undefined => {
  const essence = contentType.split(";")[0]?.trim().toLowerCase();
  return attachmentTypes.find((type) => type === essence);
};

/** What a content is found to be instead of what it was called; undefined where both agree. */
export const lie = (declared: AttachmentType, head: Uint8Array): string | undefined => {
  const text = Buffer.from(head.subarray(0, headBytes)).toString("latin1");
  const found = typeOf(text);
  if (isSigned(declared)) return found === declared ? undefined : (found ?? "something else");
  if (found !== undefined) return found;
  return text.includes("\u0000") ? "binary data" : undefined;
};
