import { Effect, type Scope } from "effect";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFiles, type Files } from "./files.ts";

/**
 * The files of a store in memory: agents take attachments by their path, so they lie in a folder all the same. It is made
 * when the first one comes and goes with the scope.
 */
export const temporaryFiles: Effect.Effect<Files, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync((): { dir?: string } => ({})),
    (made) =>
      Effect.sync(() => {
        if (made.dir !== undefined) rmSync(made.dir, { recursive: true, force: true });
      }),
  ),
  (made) =>
    makeFiles({
      dir: () => made.dir,
      make: () => (made.dir ??= mkdtempSync(join(tmpdir(), "tributary-attachments-"))),
    }),
);
