import { folders, testkit, vendorOf, vendorWhy } from "./table.ts";
import type { Tree } from "./tree.ts";
import type { Violation } from "./violation.ts";

type Section = "dependencies" | "devDependencies" | "optionalDependencies" | "peerDependencies";
const sections: ReadonlyArray<Section> = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
];

/** The dependency sections of a `package.json`. */
export type Manifest = Partial<Record<Section, Readonly<Record<string, string>>>>;

/** The manifest at `folder` ("" for the root); an empty one where there is none. */
export const manifestOf = (tree: Tree, folder: string): Manifest => {
  const text = tree.get(folder === "" ? "package.json" : `${folder}/package.json`);
  return text === undefined ? {} : (JSON.parse(text) as Manifest);
};

/** Whether what ships may import this package: it is installed without development dependencies, too. */
export const declaresForUse = (manifest: Manifest, name: string): boolean =>
  sections.some((section) => section !== "devDependencies" && manifest[section]?.[name] !== undefined);

/** Whether tests and tools may import it. */
export const declares = (manifest: Manifest, name: string): boolean =>
  sections.some((section) => manifest[section]?.[name] !== undefined);

/**
 * The manifests' own part of the table: what a package declares it may import, its versions are exact, and a
 * package from the registry has one version in the whole repository.
 */
export const manifestViolations = (tree: Tree): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = [];
  const firstSeen = new Map<string, { readonly version: string; readonly file: string }>();
  const root = manifestOf(tree, "");

  for (const place of ["", ...folders.map(({ path }) => path)]) {
    const folder = folders.find(({ path }) => path === place);
    const file = folder === undefined ? "package.json" : `${folder.path}/package.json`;
    const text = tree.get(file) ?? "";
    const manifest = manifestOf(tree, place);

    for (const section of sections) {
      for (const [name, version] of Object.entries(manifest[section] ?? {})) {
        const report = (allowed: string, why: string) => {
          const what = `declares "${name}": "${version}" (package.json, ${section})`;
          violations.push({ file, line: lineOfDependency(text, section, name), what, allowed, why });
        };

        if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
          report("Versions are exact.", "what was tested together is what gets installed.");
        }
        const seen = firstSeen.get(name);
        if (seen === undefined) firstSeen.set(name, { version, file });
        else if (seen.version !== version) {
          report(
            `${seen.file} has ${seen.version}; use one version.`,
            "two copies of a library do not know each other's types and services.",
          );
        }

        if (vendorOf(name) !== undefined && place !== "packages/providers") {
          report("Only packages/providers declares it.", vendorWhy);
        } else if (folder !== undefined && vendorOf(name) === undefined) {
          const forUse = folder.packages.includes(name) || folder.externals.includes(name);
          const forTests = section === "devDependencies" && (name === testkit || declares(root, name));
          if (!forUse && !forTests) report(allowedImports(folder.path), folder.why);
        }
      }
    }
  }
  return violations;
};

/** What a folder may import, as a sentence. */
export const allowedImports = (path: string): string => {
  const folder = folders.find((candidate) => candidate.path === path);
  const names = [...(folder?.packages ?? []), ...(folder?.externals ?? [])];
  if (folder?.node === true) names.push("node:*");
  return `${path} may import ${names.length === 0 ? "nothing" : names.join(", ")}.`;
};

/** The line of a dependency inside its section; 1 where it can't be found. */
const lineOfDependency = (text: string, section: Section, name: string): number => {
  const sectionAt = text.indexOf(JSON.stringify(section));
  const at = text.indexOf(JSON.stringify(name), Math.max(sectionAt, 0));
  return at === -1 ? 1 : text.slice(0, at).split("\n").length;
};
