import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { folders, type Folder } from "./table.ts";

/** Files by their path from the repository's root, with forward slashes. */
export type Tree = ReadonlyMap<string, string>;

const skipped = new Set(["node_modules", "dist", "fixtures", ".git", ".turbo", ".cache"]);
const isSource = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path);
const isManifest = (path: string): boolean => path === "package.json" || path.endsWith("/package.json");

/** The sources and package manifests below `root`. Recorded fixtures are data and left out. */
export const readTree = (root: string): Tree => {
  const tree = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) walk(path);
      } else if (entry.isFile() && (isSource(path) || isManifest(path))) {
        tree.set(path, readFileSync(join(root, path), "utf8"));
      }
    }
  };
  walk("");
  return tree;
};

/** The sources of a tree, with their path. */
export const sourcesOf = (tree: Tree): ReadonlyArray<readonly [path: string, text: string]> =>
  [...tree].filter(([path]) => isSource(path));

/** Whether code ships (`src`, `bin`), tests a package, or is tooling of the repository. */
export type Zone = "shipped" | "test" | "tooling";

/** Where a file stands: its folder of the table, if any, and its zone. */
export const placeOf = (path: string): { readonly folder: Folder | undefined; readonly zone: Zone } => {
  const folder = folders.find((candidate) => path.startsWith(`${candidate.path}/`));
  if (folder === undefined) return { folder, zone: "tooling" };
  const inside = path.slice(folder.path.length + 1);
  return { folder, zone: inside.startsWith("src/") || inside.startsWith("bin/") ? "shipped" : "test" };
};
