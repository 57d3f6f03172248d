import { parseSync, Visitor, type ESTree } from "vite";

/** How a file reaches another module. */
export type ImportKind =
  | "import"
  | "import type"
  | "re-export"
  | "dynamic import"
  | "require"
  | "type import"
  | "module resolution"
  | "reference directive"
  | "module mock"
  | "file URL";

/** One place where a file names another module. */
export interface ImportSite {
  /** 1-based. */
  readonly line: number;
  readonly kind: ImportKind;
  /** What is named; undefined where it is computed, so that nobody can tell before it runs. */
  readonly specifier: string | undefined;
}

/** A file that does not parse, so that its imports are unknown. */
export class UnreadableSource extends Error {}

/**
 * Every module that a TypeScript or JavaScript source names, in order. The source is parsed, so what stands in
 * comments and strings is not taken for an import (nor an import overlooked because of how it is laid out).
 */
export const importsOf = (path: string, source: string): ReadonlyArray<ImportSite> => {
  const { program, comments, errors } = parseSync(path, source);
  const failure = errors[0];
  if (failure !== undefined) throw new UnreadableSource(`${path} does not parse: ${failure.message}`);

  const sites: Array<{ readonly at: number; readonly kind: ImportKind; readonly specifier: string | undefined }> = [];
  const add = (node: ESTree.Node, kind: ImportKind, argument: ESTree.Node | null | undefined) => {
    sites.push({ at: node.start, kind, specifier: literalText(argument) });
  };

  for (const comment of comments) {
    const named = /^\/\s*<reference\s+(?:types|path)=["']([^"']+)["']/.exec(comment.value);
    if (named !== null) sites.push({ at: comment.start, kind: "reference directive", specifier: named[1] });
  }

  new Visitor({
    ImportDeclaration: (node) => add(node, node.importKind === "type" ? "import type" : "import", node.source),
    ExportAllDeclaration: (node) => add(node, "re-export", node.source),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node, "re-export", node.source);
    },
    ImportExpression: (node) => add(node, "dynamic import", node.source),
    TSImportType: (node) => add(node, "type import", node.source),
    TSExternalModuleReference: (node) => add(node, "require", node.expression),
    CallExpression: (node) => {
      const kind = callKind(node.callee);
      if (kind !== undefined) add(node, kind, node.arguments[0]);
    },
    NewExpression: (node) => {
      if (isName(node.callee, "URL") && isImportMeta(node.arguments[1], "url"))
        add(node, "file URL", node.arguments[0]);
    },
  }).visit(program);

  const lineOf = lineCounter(source);
  return sites
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, kind, specifier }) => ({ line: lineOf(at), kind, specifier }));
};

/** The functions that load or find a module when they are called. */
const callKind = (callee: ESTree.Node): ImportKind | undefined => {
  if (isRequire(callee)) return "require";
  if (isImportMeta(callee, "resolve")) return "module resolution";
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return undefined;
  const method = callee.property.name;
  if (isRequire(callee.object) && method === "resolve") return "module resolution";
  if (isName(callee.object, "vi") && ["mock", "doMock", "importActual", "importMock"].includes(method)) {
    return "module mock";
  }
  return undefined;
};

/** `require`, or what `createRequire(…)` gives. */
const isRequire = (node: ESTree.Node): boolean =>
  isName(node, "require") || (node.type === "CallExpression" && isName(node.callee, "createRequire"));

const isName = (node: ESTree.Node, name: string): boolean => node.type === "Identifier" && node.name === name;

/** `import.meta.<property>` */
const isImportMeta = (node: ESTree.Node | undefined, property: string): boolean =>
  node?.type === "MemberExpression" &&
  node.object.type === "MetaProperty" &&
  node.object.meta.name === "import" &&
  node.property.type === "Identifier" &&
  node.property.name === property;

/** The text of a string, of a template without parts, or of the import expression that `vi.mock` takes. */
const literalText = (node: ESTree.Node | null | undefined): string | undefined => {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  if (node?.type === "ImportExpression") return literalText(node.source);
  return undefined;
};

const lineCounter = (source: string) => (offset: number) => {
  let line = 1;
  for (let at = source.indexOf("\n"); at !== -1 && at < offset; at = source.indexOf("\n", at + 1)) line += 1;
  return line;
};
