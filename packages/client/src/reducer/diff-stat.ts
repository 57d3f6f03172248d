/** What a unified diff touched: counted as the server counts it. */
import type { FileChange } from "@tributary/contracts";

export interface DiffStat {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

const hunkHead = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Lines inside a hunk are told by its lengths, so that a removed line `-- a` is no file header. */
export const diffStat = (diff: string): DiffStat => {
  let [files, added, removed] = [0, 0, 0];
  let [oldLeft, newLeft] = [0, 0];
  let inGitHeader = false;
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const inHunk = oldLeft > 0 || newLeft > 0;
    const hunk = inHunk ? null : hunkHead.exec(line);
    if (inHunk) {
      if (line.startsWith("+")) {
        added += 1;
        newLeft -= 1;
      } else if (line.startsWith("-")) {
        removed += 1;
        oldLeft -= 1;
      } else if (!line.startsWith("\\")) {
        oldLeft -= 1;
        newLeft -= 1;
      }
    } else if (hunk !== null) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
    } else if (line.startsWith("diff --git ")) {
      files += 1;
      inGitHeader = true;
    } else if (line.startsWith("--- ")) {
      if (!inGitHeader) files += 1;
      inGitHeader = false;
    } else if (!line.startsWith("+++ ")) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
    }
  }
  return { files, added, removed };
};

/** Lines that file changes with diffs changed, and their paths. */
export const changesStat = (changes: ReadonlyArray<FileChange>) => {
  let [added, removed] = [0, 0];
  for (const { diff } of changes) {
    if (diff === undefined) continue;
    const stat = diffStat(diff);
    added += stat.added;
    removed += stat.removed;
  }
  return { paths: [...new Set(changes.map(({ path }) => path))], added, removed };
};
