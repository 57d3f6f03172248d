/** What file tools change: from their input before they ran, exactly from their result after it. */
import type { FileChange } from "@tributary/contracts";
import { TextDiff } from "effect";
import { asCount, asObject, asObjects, asText, asTexts, asWords, type NativeObject } from "../native.ts";
import type { ClaudeState } from "./state.ts";

const fileTools = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
export const isFileTool = (name: string): boolean => fileTools.has(name);

/** Larger differences become plain replacements: a diff must not cost more than the change. */
const MAX_EDITS = 1000;

const absolute = ({ cwd }: ClaudeState, path: string): string =>
  cwd === undefined || /^([/\\]|[A-Za-z]:)/.test(path) ? path : `${cwd}/${path}`;

/** The file that a call or its result names. */
export const pathOf = (state: ClaudeState, native: NativeObject): string | undefined => {
  const path =
    asWords(native["file_path"]) ??
    asWords(native["filePath"]) ??
    asWords(native["notebook_path"]) ??
    asWords(asObject(native["file"])?.["filePath"]);
  return path === undefined ? undefined : absolute(state, path);
};

const ended = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const unified = (before: string, after: string, names: { readonly from: string; readonly to: string }): string =>
  TextDiff.unified(TextDiff.lines(before, after, { maxEdits: MAX_EDITS }), { fromFile: names.from, toFile: names.to });

const added = (path: string, content: string): FileChange => ({
  path,
  kind: "add",
  diff: unified("", content, { from: "/dev/null", to: path }),
});

/** Parts of a file: where they stand in it is not known before the tool ran. */
const replaced = (path: string, edits: ReadonlyArray<NativeObject>): FileChange => {
  const diff = edits
    .map((edit) => {
      const [before, after] = [asText(edit["old_string"]) ?? "", asText(edit["new_string"]) ?? ""];
      return TextDiff.unified(TextDiff.lines(ended(before), ended(after), { maxEdits: MAX_EDITS }));
    })
    .join("");
  return { path, kind: "update", diff: `--- ${path}\n+++ ${path}\n${diff}` };
};

/**
 * What a call is about to change. A file that the agent never read is new: the runtime refuses to write over it. What a
 * known file held is not in the call, so there is no diff for its replacement.
 */
export const intendedChanges = (state: ClaudeState, name: string, input: NativeObject): ReadonlyArray<FileChange> => {
  const path = pathOf(state, input);
  if (path === undefined) return [];
  if (name === "Write") {
    const content = asText(input["content"]);
    if (content === undefined) return [];
    return [state.files.has(path) ? { path, kind: "update" } : added(path, content)];
  }
  if (name === "Edit" && asText(input["new_string"]) !== undefined) {
    const before = asText(input["old_string"]);
    return [before === "" ? added(path, asText(input["new_string"]) ?? "") : replaced(path, [input])];
  }
  if (name === "MultiEdit") return [replaced(path, asObjects(input["edits"]))];
  return [{ path, kind: "update" }];
};

const hunk = (native: NativeObject): string => {
  const [oldStart, oldLines] = [asCount(native["oldStart"]) ?? 0, asCount(native["oldLines"]) ?? 0];
  const [newStart, newLines] = [asCount(native["newStart"]) ?? 0, asCount(native["newLines"]) ?? 0];
  const lines = asTexts(native["lines"]).map((line) => `${line}\n`);
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${lines.join("")}`;
};

/** What a file tool did, by its structured result; nothing where it says nothing. */
export const madeChanges = (state: ClaudeState, name: string, result: NativeObject): ReadonlyArray<FileChange> => {
  if (!isFileTool(name)) return [];
  const path = pathOf(state, result);
  if (path === undefined) return [];
  if (asText(result["type"]) === "create") return [added(path, asText(result["content"]) ?? "")];
  const [before, after] = [asText(result["original_file"]), asText(result["updated_file"])];
  if (before !== undefined && after !== undefined) {
    return [{ path, kind: "update", diff: unified(before, after, { from: path, to: path }) }];
  }
  const hunks = asObjects(result["structuredPatch"]);
  if (hunks.length === 0) return [{ path, kind: "update" }];
  return [{ path, kind: "update", diff: `--- ${path}\n+++ ${path}\n${hunks.map(hunk).join("")}` }];
};
