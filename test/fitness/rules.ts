import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { importsOf, type ImportSite } from "./imports.ts";
import { allowedImports, declares, declaresForUse, manifestOf, manifestViolations } from "./manifest.ts";
import { folders, testkit, vendorOf, vendorWhy, type Folder } from "./table.ts";
import { placeOf, sourcesOf, type Tree, type Zone } from "./tree.ts";
import type { Violation } from "./violation.ts";

/** Everything in a tree that breaks the dependency table, sources first, then package manifests. */
export const violationsOf = (tree: Tree): ReadonlyArray<Violation> => [
  ...sourcesOf(tree).flatMap(([path, text]) =>
    importsOf(path, text).flatMap((site) => {
      const objection = objectionTo(tree, path, site);
      if (objection === undefined) return [];
      const named = site.specifier === undefined ? "a computed module" : `"${site.specifier}"`;
      return [{ file: path, line: site.line, what: `imports ${named} (${site.kind})`, ...objection }];
    }),
  ),
  ...manifestViolations(tree),
];

/** What is allowed instead, and why; undefined where the import is fine. */
type Objection = Pick<Violation, "allowed" | "why"> | undefined;

const objectionTo = (tree: Tree, path: string, { kind, specifier }: ImportSite): Objection => {
  const { folder, zone } = placeOf(path);
  if (specifier === undefined) return kind === "file URL" || zone !== "shipped" ? undefined : computed;
  // A file URL names something to read or run, which tests and tools may do anywhere in the repository.
  if (kind === "file URL") return zone === "shipped" ? objectionToPath(path, folder, zone, specifier) : undefined;
  if (specifier.startsWith(".")) return objectionToPath(path, folder, zone, specifier);
  if (/^(?:\/|#|(?:file|data|https?):)/.test(specifier)) return notByName;
  if (isBuiltin(specifier) || (kind === "reference directive" && specifier === "node")) {
    return objectionToNode(folder, zone);
  }
  return objectionToPackage(tree, path, packageName(specifier));
};

const computed: Objection = {
  allowed: "Code that ships names its modules in literals.",
  why: "what a computed import loads can be neither checked nor bundled.",
};

const notByName: Objection = {
  allowed: "Import a package by its name or a file of the same package by a relative path.",
  why: "absolute paths, URLs and # aliases hide which package is meant.",
};

/** Relative paths stay inside the package, and from shipped code inside what ships. */
const objectionToPath = (path: string, folder: Folder | undefined, zone: Zone, specifier: string): Objection => {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  const owner = folders.find((candidate) => target === candidate.path || target.startsWith(`${candidate.path}/`));
  if (owner !== folder || target.startsWith("../")) {
    return {
      allowed: owner === undefined ? "A relative path stays inside its package." : `Import it as ${owner.name}.`,
      why: "a package is reached by its name only, so that its exports are all that others can depend on.",
    };
  }
  const ships =
    folder === undefined ||
    placeOf(target).zone === "shipped" ||
    target === `${folder.path}/package.json` ||
    // What the build made of the sources.
    target.startsWith(`${folder.path}/dist/`);
  if (zone === "shipped" && !ships) {
    return {
      allowed: `${folder.path}/src imports files of ${folder.path}/src.`,
      why: "tests and their helpers are not part of what ships.",
    };
  }
  return undefined;
};

const objectionToNode = (folder: Folder | undefined, zone: Zone): Objection =>
  folder === undefined || folder.node || zone !== "shipped"
    ? undefined
    : { allowed: allowedImports(folder.path), why: folder.why };

/** Packages: vendors by folder, then the table, then that the package says so in its own manifest. */
const objectionToPackage = (tree: Tree, path: string, name: string): Objection => {
  const { folder, zone } = placeOf(path);
  const runtime = vendorOf(name);
  if (runtime !== undefined) {
    const home = new RegExp(`^packages/providers/(?:src/${runtime}/|test/${runtime}[/.])`);
    if (!home.test(path)) return { allowed: `Only packages/providers/src/${runtime} may import it.`, why: vendorWhy };
  }

  const root = manifestOf(tree, "");
  if (folder === undefined) {
    const known = declares(root, name) || folders.some((candidate) => candidate.name === name);
    return known ? undefined : undeclared("the root package.json");
  }

  const own = manifestOf(tree, folder.path);
  const inTable = folder.packages.includes(name) || folder.externals.includes(name) || runtime !== undefined;
  if (zone === "shipped") {
    if (!inTable) return { allowed: allowedImports(folder.path), why: folder.why };
    const declared = folder.ships === false ? declares(own, name) : declaresForUse(own, name);
    return declared ? undefined : undeclared(`the dependencies of ${folder.path}/package.json`);
  }
  if (name === testkit || name === folder.name) return undefined;
  if (declares(root, name) && !folders.some((candidate) => candidate.name === name)) return undefined;
  if (!inTable)
    return { allowed: `${allowedImports(folder.path)} Its tests may also import ${testkit}.`, why: folder.why };
  return declares(own, name) ? undefined : undeclared(`${folder.path}/package.json`);
};

const undeclared = (manifest: string): Objection => ({
  allowed: `Declare it in ${manifest}.`,
  why: "an undeclared package is there by accident and missing after an install without development dependencies.",
});

/** `@scope/name/sub/path` → `@scope/name` */
const packageName = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
