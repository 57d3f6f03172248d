/** Counting what a change touched. */
import type { FileChange } from "@tributary/contracts";

export interface DiffStat {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

/**
 * Counts a unified diff. Hunk lengths are followed, so that a removed line that reads `-- a` is not taken for a file
 * header. A diff without hunk headers counts its `+` and `-` lines.
 */
export const diffStat = (diff: string): DiffStat => {
  let files = 0;
  let added = 0;
  let removed = 0;
  let oldLeft = 0;
  let newLeft = 0;
  let gitHeader = false;
  for (const line of lines(diff)) {
    if (oldLeft > 0 || newLeft > 0) {
      if (line.startsWith("+")) {
        added++;
        newLeft--;
      } else if (line.startsWith("-")) {
        removed++;
        oldLeft--;
      } else if (!line.startsWith("\\")) {
        oldLeft--;
        newLeft--;
      }
      continue;
    }
    const hunk = line.startsWith("@@") ? /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) : null;
    if (hunk !== null) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
    } else if (line.startsWith("diff --git ")) {
      files++;
      gitHeader = true;
    } else if (line.startsWith("--- ")) {
      if (!gitHeader) files++;
      gitHeader = false;
    } else if (line.startsWith("+++ ")) continue;
    else if (line.startsWith("+")) added++;
    else if (line.startsWith("-")) removed++;
  }
  return { files, added, removed };
};

function* lines(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end === -1 ? text.length : end);
    if (end === -1) return;
    start = end + 1;
  }
}

/** Lines changed by file changes that carry their diffs, and the paths. */
export const changesStat = (changes: ReadonlyArray<FileChange>) => {
  let added = 0;
  let removed = 0;
  for (const { diff } of changes) {
    if (diff === undefined) continue;
    const stat = diffStat(diff);
    added += stat.added;
    removed += stat.removed;
  }
  return { paths: [...new Set(changes.map((change) => change.path))], added, removed };
};
