/** Where a thread may live: real folders under registered roots (I13). */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import type { DecideContext } from "@tributary/domain";
import { Effect, Layer } from "effect";
import { Places } from "./ports.ts";

/** A registered project: its id and its real root. */
export interface Root {
  readonly projectId: string;
  readonly root: string;
}

/** Whether a real path is a folder itself or lies below it. */
export const isUnder = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** The place of a real folder: the project with the innermost root that holds it. */
export const placeOf = (
  asked: string,
  real: string | undefined,
  roots: ReadonlyArray<Root>,
): NonNullable<DecideContext["place"]> => {
  if (real === undefined)
    return {
      refused: "cwd_missing",
      detail: `The folder ${asked} does not exist, or is no absolute path to a folder: create it, or choose another`,
    };
  const holding = roots.filter(({ root }) => isUnder(root, real));
  const [first, ...rest] = holding;
  if (first === undefined)
    return {
      refused: "cwd_outside_roots",
      detail: `The folder ${real} lies under no registered project: register one that holds it, or choose another`,
    };
  const { projectId } = rest.reduce((best, next) => (next.root.length > best.root.length ? next : best), first);
  return { projectId, cwd: real };
};

const realFolder = (path: string): Effect.Effect<string | undefined> =>
  isAbsolute(path)
    ? Effect.promise(async () => {
        try {
          const real = await realpath(path);
          return (await stat(real)).isDirectory() ? real : undefined;
        } catch {
          return undefined;
        }
      })
    : Effect.succeed(undefined);

/** Folders of the machine that this runs on; the roots come from whoever has the projects' rows. */
export const placesLayer = (roots: Places["Service"]["roots"]): Layer.Layer<Places> =>
  Layer.succeed(Places, { realFolder, roots });
