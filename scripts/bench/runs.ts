import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Folders for runs that each need an empty one, and of which the newest is read again by what it is compared with. */
export interface RunFolders {
  /** An empty folder; the ones before `latest` are removed. */
  readonly next: () => string;
  /** The folder of the newest run. */
  readonly latest: () => string;
}

/** Hands out folders below `parent`, and keeps no more than two at a time: a run leaves hundreds of megabytes. */
export const runFolders = (parent: string, name: string): RunFolders => {
  const made: Array<string> = [];
  return {
    next: () => {
      for (const old of made.splice(0, made.length - 1)) rmSync(old, { recursive: true, force: true });
      const folder = join(parent, `${name}-${process.hrtime.bigint()}`);
      mkdirSync(folder, { recursive: true });
      made.push(folder);
      return folder;
    },
    latest: () => {
      const folder = made.at(-1);
      if (folder === undefined) throw new Error(`No run of ${name} was made yet.`);
      return folder;
    },
  };
};

/** Does something with an empty folder below `parent` that is removed at once. */
export const inScratch = async <A>(parent: string, use: (folder: string) => A | Promise<A>): Promise<A> => {
  const folder = join(parent, `scratch-${process.hrtime.bigint()}`);
  mkdirSync(folder, { recursive: true });
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
