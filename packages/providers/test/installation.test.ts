import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { installation as claude } from "../src/claude/installation.ts";
import { installation as codex } from "../src/codex/installation.ts";

/** Tells its version, and where it was started: the folder, its mode, what is in it. */
const program = `#!/bin/sh
echo "$(pwd -P)|$(ls -ld . | cut -c1-10)|$(ls -A)" >> "$SEEN"
echo "1.2.3 (stand-in)"
`;

describe("a runtime that is asked what it is", () => {
  for (const [name, installation] of [
    ["claude", claude],
    ["codex", codex],
  ] as const)
    it.live(`starts in an empty folder of ours, not in a shared one: ${name}`, () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-installation-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
        );
        const command = join(folder, name);
        const seen = join(folder, "seen");
        writeFileSync(command, program);
        chmodSync(command, 0o755);
        yield* installation({ id: name, runtime: name, command, home: join(folder, "home"), env: { SEEN: seen } });
        const starts = readFileSync(seen, "utf8").trim().split("\n");
        // For its version, and to be asked.
        assert.lengthOf(starts, 2);
        for (const start of starts) assert.match(start, /\/tributary-ask-[^/|]+\|drwx------\|$/);
        assert.strictEqual(new Set(starts).size, 2);
      }),
    );
});
