/** The patch format that Codex's `apply_patch` tool takes. */

const lines = (text: string): ReadonlyArray<string> => text.replace(/\n$/, "").split("\n");
const prefixed = (sign: string, text: string): ReadonlyArray<string> => lines(text).map((line) => sign + line);
const patch = (...body: ReadonlyArray<string>): string => ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");

export const addFilePatch = (path: string, content: string): string =>
  patch(`*** Add File: ${path}`, ...prefixed("+", content));

export const changeFilePatch = (path: string, before: string, after: string): string =>
  patch(`*** Update File: ${path}`, "@@", ...prefixed("-", before), ...prefixed("+", after));
