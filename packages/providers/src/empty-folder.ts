/** Where a runtime is asked what it is: in a folder of ours that holds nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";

/**
 * An empty folder for us alone (0700), as long as the scope lasts. Runtimes take settings, hooks and servers from the
 * folder they start in: in a shared one, such as the temporary folder itself, those would be anybody's.
 */
export const emptyFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "tributary-ask-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }).catch(() => undefined)),
);
