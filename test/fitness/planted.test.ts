import { describe, expect, test } from "vitest";
import { violationsOf } from "./rules.ts";
import { folders } from "./table.ts";
import type { Tree } from "./tree.ts";
import { describeViolation } from "./violation.ts";

/** A repository in which every package declares what the table lets it use, and nothing is wrong yet. */
const soundTree = (): ReadonlyArray<readonly [string, string]> => {
  const versions = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  const manifests = folders.map(({ path, name, packages, externals }) => {
    const vendors = path === "packages/providers" ? ["@openai/codex-sdk"] : [];
    return [
      `${path}/package.json`,
      JSON.stringify({ name, dependencies: versions([...packages, ...externals, ...vendors]) }, undefined, 2),
    ] as const;
  });
  return [["package.json", JSON.stringify({ devDependencies: versions(["vitest", "vite", "effect"]) })], ...manifests];
};

const plant = (files: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const tree: Tree = new Map([...soundTree(), ...Object.entries(files)]);
  return violationsOf(tree).map(describeViolation);
};

describe("a planted violation is found", () => {
  const cases: ReadonlyArray<{
    readonly name: string;
    readonly file: string;
    readonly source: string;
    readonly message: ReadonlyArray<string>;
  }> = [
    {
      name: "import against the table",
      file: "packages/projections/src/rows.ts",
      source: 'import { Effect } from "effect";\n\nimport { decide } from "@tributary/domain";\n',
      message: [
        'packages/projections/src/rows.ts:3 imports "@tributary/domain" (import).',
        "packages/projections may import @tributary/contracts, @tributary/store, effect, node:*.",
        "Why: projections turn committed events into rows",
      ],
    },
    {
      name: "type-only import",
      file: "packages/domain/src/decide.ts",
      source: 'import type { Effect } from "effect";\n',
      message: [
        'packages/domain/src/decide.ts:1 imports "effect" (import type).',
        "packages/domain may import @tributary/contracts.",
      ],
    },
    {
      name: "type-only specifier in the middle of a type",
      file: "packages/domain/src/decide.ts",
      source: 'export type Clock = import("effect/Clock").Clock;\n',
      message: ['packages/domain/src/decide.ts:1 imports "effect/Clock" (type import).'],
    },
    {
      name: "re-export",
      file: "packages/ingestion/src/index.ts",
      source: 'export {\n  page\n} from "@tributary/projections";\n',
      message: ['packages/ingestion/src/index.ts:1 imports "@tributary/projections" (re-export).'],
    },
    {
      name: "star re-export",
      file: "packages/engine/src/index.ts",
      source: 'export * as providers from "@tributary/providers";\n',
      message: [
        'packages/engine/src/index.ts:1 imports "@tributary/providers" (re-export).',
        "knows no provider by name",
      ],
    },
    {
      name: "dynamic import",
      file: "packages/providers/src/registry.ts",
      source: "export const load = async () => {\n  return import(`@tributary/store`);\n};\n",
      message: ['packages/providers/src/registry.ts:2 imports "@tributary/store" (dynamic import).'],
    },
    {
      name: "computed dynamic import",
      file: "packages/providers/src/registry.ts",
      source: "export const load = (name: string) => import(name);\n",
      message: ["packages/providers/src/registry.ts:1 imports a computed module (dynamic import).", "in literals"],
    },
    {
      name: "require made by createRequire",
      file: "packages/store/src/driver.ts",
      source:
        'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\nrequire("@tributary/engine");\n',
      message: ['packages/store/src/driver.ts:3 imports "@tributary/engine" (require).'],
    },
    {
      name: "import = require",
      file: "packages/store/src/driver.cts",
      source: 'import engine = require("@tributary/engine");\nexport { engine };\n',
      message: ['packages/store/src/driver.cts:1 imports "@tributary/engine" (require).'],
    },
    {
      name: "Node in client",
      file: "packages/client/src/files.ts",
      source: 'import { readFileSync } from "node:fs";\n',
      message: ['packages/client/src/files.ts:1 imports "node:fs" (import).', "client is what browsers and phones run"],
    },
    {
      name: "Node without its prefix in contracts",
      file: "packages/contracts/src/ids.ts",
      source: 'import { randomUUID } from "crypto";\n',
      message: ['packages/contracts/src/ids.ts:1 imports "crypto" (import).'],
    },
    {
      name: "Node's platform package in client",
      file: "packages/client/src/http.ts",
      source: 'import { NodeHttpClient } from "@effect/platform-node";\n',
      message: ['packages/client/src/http.ts:1 imports "@effect/platform-node" (import).'],
    },
    {
      name: "Node's types by directive in contracts",
      file: "packages/contracts/src/ids.ts",
      source: '/// <reference types="node" />\nexport const one = 1;\n',
      message: ['packages/contracts/src/ids.ts:1 imports "node" (reference directive).'],
    },
    {
      name: "vendor SDK outside providers",
      file: "apps/server/src/run.ts",
      source: 'import { Codex } from "@openai/codex-sdk";\n',
      message: [
        'apps/server/src/run.ts:1 imports "@openai/codex-sdk" (import).',
        "Only packages/providers/src/codex may import it.",
      ],
    },
    {
      name: "vendor SDK in another runtime's folder",
      file: "packages/providers/src/claude/adapter.ts",
      source: 'import type { Codex } from "@openai/codex-sdk";\n',
      message: ['packages/providers/src/claude/adapter.ts:1 imports "@openai/codex-sdk" (import type).'],
    },
    {
      name: "relative path into another package",
      file: "packages/ingestion/src/guard.ts",
      source: 'import { decide } from "../../domain/src/decide.ts";\n',
      message: [
        'packages/ingestion/src/guard.ts:1 imports "../../domain/src/decide.ts" (import).',
        "Import it as @tributary/domain.",
      ],
    },
    {
      name: "relative path into another package from a test",
      file: "packages/ingestion/test/guard.test.ts",
      source: 'import { decide } from "../../domain/src/decide.ts";\n',
      message: ['packages/ingestion/test/guard.test.ts:1 imports "../../domain/src/decide.ts" (import).'],
    },
    {
      name: "relative path into a package from a script",
      file: "scripts/bench/writer.ts",
      source: 'import { writer } from "../../packages/store/src/writer.ts";\n',
      message: ['scripts/bench/writer.ts:1 imports "../../packages/store/src/writer.ts" (import).'],
    },
    {
      name: "worker file of another package",
      file: "packages/engine/src/worker.ts",
      source: 'new Worker(new URL("../../store/src/worker.ts", import.meta.url));\n',
      message: ['packages/engine/src/worker.ts:1 imports "../../store/src/worker.ts" (file URL).'],
    },
    {
      name: "absolute path",
      file: "packages/engine/test/worker.test.ts",
      source: 'import "file:///usr/lib/thing.js";\n',
      message: ['packages/engine/test/worker.test.ts:1 imports "file:///usr/lib/thing.js" (import).'],
    },
    {
      name: "test helper in shipped code",
      file: "packages/store/src/writer.ts",
      source: 'import { sample } from "../test/sample.ts";\n',
      message: ['packages/store/src/writer.ts:1 imports "../test/sample.ts" (import).', "not part of what ships"],
    },
    {
      name: "testkit in the server",
      file: "apps/server/src/scenario.ts",
      source: 'import { mock } from "@tributary/testkit";\n',
      message: ['apps/server/src/scenario.ts:1 imports "@tributary/testkit" (import).', "test tools stay out"],
    },
    {
      name: "a package's test against the table",
      file: "packages/domain/test/decide.test.ts",
      source: 'import { Store } from "@tributary/store";\n',
      message: ['packages/domain/test/decide.test.ts:1 imports "@tributary/store" (import).'],
    },
    {
      name: "a mocked module against the table",
      file: "packages/domain/test/decide.test.ts",
      source: 'import { vi } from "vitest";\nvi.mock(import("@tributary/store"));\n',
      message: ['packages/domain/test/decide.test.ts:2 imports "@tributary/store" (module mock).'],
    },
    {
      name: "undeclared package in a script",
      file: "scripts/bench/main.ts",
      source: 'import table from "cli-table";\n',
      message: ['scripts/bench/main.ts:1 imports "cli-table" (import).', "Declare it in the root package.json."],
    },
  ];

  test.each(cases)("$name", ({ file, source, message }) => {
    const found = plant({ [file]: source }).join("\n");
    for (const part of message) expect(found).toContain(part);
  });
});

describe("a planted package.json violation is found", () => {
  const manifest = (name: string, sections: object) => JSON.stringify({ name, ...sections }, undefined, 2);

  test("a dependency against the table", () => {
    const file = manifest("@tributary/domain", { dependencies: { "@tributary/contracts": "1.0.0", effect: "1.0.0" } });
    expect(plant({ "packages/domain/package.json": file })).toEqual([
      expect.stringContaining(
        'packages/domain/package.json:5 declares "effect": "1.0.0" (package.json, dependencies).',
      ),
    ]);
  });

  test("testkit as something that ships", () => {
    const file = manifest("@tributary/engine", { dependencies: { "@tributary/testkit": "1.0.0" } });
    expect(plant({ "packages/engine/package.json": file })).toHaveLength(1);
  });

  test("testkit for tests is fine", () => {
    const file = manifest("@tributary/engine", { devDependencies: { "@tributary/testkit": "1.0.0", vitest: "1.0.0" } });
    expect(plant({ "packages/engine/package.json": file })).toEqual([]);
  });

  test("a vendor SDK outside providers, optional or not", () => {
    const file = manifest("@tributary/server", { optionalDependencies: { "@anthropic-ai/claude-agent-sdk": "1.0.0" } });
    expect(plant({ "apps/server/package.json": file })).toEqual([
      expect.stringContaining("Only packages/providers declares it."),
    ]);
  });

  test("an open version range", () => {
    const file = manifest("@tributary/client", { dependencies: { effect: "^1.0.0" } });
    expect(plant({ "packages/client/package.json": file }).join("\n")).toContain("Versions are exact.");
  });

  test("two versions of one package", () => {
    const file = manifest("@tributary/client", { dependencies: { effect: "1.0.1" } });
    expect(plant({ "packages/client/package.json": file }).join("\n")).toContain("use one version");
  });

  test("an import that only development dependencies declare", () => {
    const found = plant({
      "packages/client/package.json": manifest("@tributary/client", { devDependencies: { effect: "1.0.0" } }),
      "packages/client/src/index.ts": 'import "effect";\n',
    });
    expect(found).toEqual([expect.stringContaining("Declare it in the dependencies of packages/client/package.json.")]);
  });
});

test("what is allowed is let through", () => {
  expect(
    plant({
      "packages/contracts/src/ids.ts": 'import { Schema } from "effect";\n',
      "packages/domain/src/decide.ts":
        'import type { Command } from "@tributary/contracts";\nexport * from "./evolve.ts";\n',
      "packages/domain/test/decide.test.ts":
        'import "node:fs";\nimport "vitest";\nimport "@tributary/testkit";\nimport "../src/decide.ts";\n',
      "packages/providers/src/codex/adapter.ts": 'const sdk = await import("@openai/codex-sdk");\n',
      "packages/providers/test/codex/adapter.test.ts": 'import "@openai/codex-sdk";\nimport "@tributary/providers";\n',
      "apps/server/bin/tributary.mjs": 'await import("../src/main.ts");\n',
      "apps/server/src/version.ts": 'import own from "../package.json" with { type: "json" };\n',
      "scripts/bench/main.ts": 'import "@tributary/store";\nimport "./harness.ts";\nimport "node:os";\n',
    }),
  ).toEqual([]);
});

test("comments and strings are not imports", () => {
  const source = [
    '// import { Effect } from "effect"',
    '/* export * from "@tributary/store" */',
    "const text = 'import(\"@tributary/engine\")';",
    'const template = `import "node:fs" ${text}`;',
    "export const pattern = /import 'effect'/;",
    "export { template };",
  ].join("\n");
  expect(plant({ "packages/domain/src/decide.ts": source })).toEqual([]);
});

test("a file that does not parse is an error, not a file without imports", () => {
  expect(() => plant({ "packages/domain/src/decide.ts": "import {" })).toThrow(/does not parse/);
});
