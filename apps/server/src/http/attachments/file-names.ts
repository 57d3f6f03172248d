/**
 * Names of attachments. They are labels, and no path is ever made of one here; but people save files under them, and agents
 * read them, so what could lead elsewhere or look like something else is refused. Pure.
 */

/** In bytes of UTF-8: what file systems take. */
const longest = 255;

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Turn the direction of what follows, or can't be seen; what only chooses how an emoji looks is seen well enough. */
const deceiving =
  /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u2800]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}/u;
/** What Windows opens as a device, with any extension. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?$/i;

const whyNot = (name: string): string | undefined => {
  // Characters that are another one in a narrower set count as that one.
  const plain = name.normalize("NFKC");
  if (control.test(name)) return "it holds control characters";
  if (deceiving.test(name)) return "it holds invisible characters, or such as turn the direction of text";
  if (/[/\\]/.test(plain)) return "it holds a path separator: send the name alone";
  if (/^\.+$/.test(plain)) return "it names a folder";
  if (/[. ]$/.test(plain) || name.startsWith(" ")) return "it begins or ends with a space, or ends with a dot";
  if (device.test(plain)) return "some systems open a device of that name";
  if (Buffer.byteLength(name) > longest) return `it is longer than ${longest} bytes`;
  return undefined;
};

export type FileName = { readonly name: string } | { readonly refused: string };

/** The name in an `x-filename` header: percent-encoded UTF-8, composed (NFC) as it is kept. */
export const fileNameOf = (header: string): FileName => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(header);
  } catch {
    return { refused: "it is not percent-encoded UTF-8" };
  }
  const name = decoded.normalize("NFC");
  if (name === "") return { refused: "it is empty: leave the header out" };
  const why = whyNot(name);
  return why === undefined ? { name } : { refused: why };
};

/** `content-disposition` that has a content saved, never shown (RFC 6266, names by RFC 8187). */
export const dispositionOf = (name: string | undefined): string => {
  if (name === undefined) return "attachment";
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*!]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
};
