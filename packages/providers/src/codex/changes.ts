/** File changes: Codex gives the new file's content for an add, the old one's for a delete, hunks for an update (observed). */
import type { FileChange } from "@tributary/contracts";
import { asObject, asObjects, asText, asWords } from "../native.ts";

const range = (count: number): string => (count === 1 ? "1" : `1,${count}`);

/** A whole file as one hunk. */
const wholeFile = (content: string, sign: "+" | "-"): string => {
  if (content === "") return "";
  const ends = content.endsWith("\n");
  const lines = (ends ? content.slice(0, -1) : content).split("\n");
  const header = sign === "+" ? `@@ -0,0 +${range(lines.length)} @@` : `@@ -${range(lines.length)} +0,0 @@`;
  const body = lines.map((line) => `${sign}${line}`).join("\n");
  return `${header}\n${body}\n${ends ? "" : "\\ No newline at end of file\n"}`;
};

const changeOf = (path: string, kind: unknown, diff: string | undefined): FileChange => {
  const type = asText(asObject(kind)?.["type"]);
  if (type === "add") return { path, kind: "add", ...(diff === undefined ? {} : { diff: wholeFile(diff, "+") }) };
  if (type === "delete") return { path, kind: "delete", ...(diff === undefined ? {} : { diff: wholeFile(diff, "-") }) };
  const moved = asWords(asObject(kind)?.["move_path"]);
  const hunks = diff === undefined ? {} : { diff };
  return moved === undefined
    ? { path, kind: "update", ...hunks }
    : { path: moved, oldPath: path, kind: "move", ...hunks };
};

/** `changes` of a `fileChange` item. */
export const changesOf = (native: unknown): ReadonlyArray<FileChange> =>
  asObjects(native).flatMap((change) => {
    const path = asWords(change["path"]);
    return path === undefined ? [] : [changeOf(path, change["kind"], asText(change["diff"]))];
  });

/** What a list of changes is called: the file, or how many. */
export const changesTitle = (changes: ReadonlyArray<FileChange>): string | undefined => {
  const [first, ...others] = changes;
  if (first === undefined) return undefined;
  const name = first.path.split(/[\\/]/).at(-1) ?? first.path;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
};
