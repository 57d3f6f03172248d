/**
 * Real child processes for tests: `fixtures/child.mjs` in the mode that a test needs.
 */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

import { Effect, type Scope, Stream } from "effect";

import {
  type AgentHandle,
  type AgentOptions,
  endTree,
  type ProcessTableError,
  snapshot,
  type SpawnError,
  spawnAgent,
} from "../../src/process/index.ts";

const program = fileURLToPath(new URL("fixtures/child.mjs", import.meta.url));

/** Markers of this run, so that a test can show that nothing is left. */
const markers = new Set<string>();

export const newMarker = (): string => {
  const marker = `test-${randomUUID()}`;
  markers.add(marker);
  return marker;
};

/** What the fixture is started with. */
export const childOptions = (mode: string, argument?: unknown): AgentOptions => ({
  command: process.execPath,
  args: [program, mode, ...(argument === undefined ? [] : [JSON.stringify(argument)])],
  cwd: process.cwd(),
  marker: newMarker(),
});

/** Starts the fixture under supervision. */
export const spawnChild = (
  mode: string,
  argument?: unknown,
  more?: Partial<AgentOptions>,
): Effect.Effect<AgentHandle, SpawnError, Scope.Scope> => spawnAgent({ ...childOptions(mode, argument), ...more });

/** The next line of a child as text. */
export const nextLine = (handle: AgentHandle): Effect.Effect<string> =>
  Stream.runHead(handle.lines).pipe(
    Effect.map((line) => {
      if (line._tag === "None" || typeof line.value !== "string") throw new Error("the child said nothing more");
      return line.value;
    }),
  );

/** Every process that a test of this file started and that still runs; none does any more afterwards. */
export const leftovers = Effect.suspend(() =>
  Effect.map(
    Effect.forEach([...markers], (marker) => endTree({ marker }, { termGrace: 0 })),
    (reports) => reports.flatMap((report) => report.found),
  ),
);

/** Whether a process runs under this pid. A zombie that init has yet to collect does not. */
export const runs = (pid: number | undefined): Effect.Effect<boolean, ProcessTableError> =>
  Effect.map(snapshot, (rows) => rows.some((row) => row.pid === pid && !row.zombie));
