import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Findings } from "../findings.ts";
import { inCopy, markersOf, survivorsOf, withFolders } from "../folders.ts";
import { get, pause, post, startServer } from "../server.ts";
import { until } from "./looking.ts";

const preload = new URL("./jumping-clock.mjs", import.meta.url);
const child = fileURLToPath(new URL("../../../packages/providers/src/scripted/child.ts", import.meta.url));

/** It speaks, and then neither listens to a stop nor to TERM. */
const deaf = {
  name: "deaf",
  on: { interrupt: "hang", terminate: "hang", eof: "hang" },
  otherwise: [{ do: "text", text: "I begin and", end: false }, { do: "silence" }],
};
const quick = { name: "quick", otherwise: [{ do: "text", text: "Done." }] };

/**
 * The machine's clock is set back by an hour, again and again: while a stop is under way, while text is held, between
 * commands. Stopping takes its time and not an hour more (I9), text comes, and the order is the log's (I3, pain 12).
 */
export const clockJumpsBack = (findings: Findings, jumps = 6): Promise<void> =>
  withFolders("clock", async ({ data, work }) => {
    const server = await startServer(data, work, { NODE_OPTIONS: `--import ${preload.href}` });
    const jump = async (): Promise<void> => {
      process.kill(server.pid, "SIGUSR2");
      await pause(50);
    };
    const { call } = server;
    await post(call, "/projects", { root: work });
    const instance = (id: string, script: object) => ({
      id,
      runtime: "scripted",
      command: process.execPath,
      args: [child],
      options: { process: true, script },
    });
    await post(call, "/instances", instance("deaf", deaf));
    await post(call, "/instances", instance("quick", quick));
    const before = Date.now();
    let longest = 0;
    let heard = 0;
    for (let n = 0; n < jumps; n += 1) {
      const threadId = `deaf-${n}`;
      await post(call, "/threads", { threadId, cwd: work, instance: "deaf", input: { inputId: threadId, text: "go" } });
      await until(call, threadId, ({ thread }) => thread.activeTurnId !== undefined);
      await jump();
      const spoke = performance.now();
      const page = await until(call, threadId, ({ rows }) =>
        rows.some(({ role }: { role?: string }) => role === "assistant"),
      );
      findings.expect(
        page.rows.some(({ role }: { role?: string }) => role === "assistant"),
        `${threadId}: text that was held when the clock jumped did not come`,
      );
      heard = Math.max(heard, performance.now() - spoke);
      const begun = performance.now();
      await post(call, `/threads/${threadId}/interrupt`, {});
      await pause(1_000);
      await jump();
      await until(call, threadId, ({ thread }) => thread.activeTurnId === undefined, 20_000);
      const took = performance.now() - begun;
      longest = Math.max(longest, took);
      findings.expect(took < 15_000, `${threadId}: stopping took ${Math.round(took)} ms across a jump (I9)`);
      const other = `quick-${n}`;
      await post(call, "/threads", {
        threadId: other,
        cwd: work,
        instance: "quick",
        input: { inputId: other, text: "x" },
      });
      await jump();
      const done = await until(call, other, ({ turns }) => turns[0]?.state === "completed");
      findings.expect(done.turns[0]?.state === "completed", `${other}: a turn did not end across a jump`, done.turns);
    }
    const checked = await get(call, "/maintenance/check");
    findings.expect(checked.problems.length === 0, "the files have problems after the jumps", checked.problems);
    findings.expect(checked.differences.length === 0, "rebuilt is not live after the jumps (I14)", checked.differences);
    const markers = inCopy(data, markersOf);
    await server.stop();
    const after = inCopy(data, (main) => order(findings, main));
    findings.expect(after.back > 0, "the clock did not jump back in the log: nothing was tried");
    const left = await survivorsOf(markers);
    findings.expect(left.length === 0, "processes are left after the jumps (I9)", left);
    findings.figure("times the clock was set back by an hour", jumps * 3);
    findings.figure("  events, in order", after.events);
    findings.figure("  events dated before the one before them", after.back);
    findings.figure("  longest stop of a deaf agent across a jump, ms", Math.round(longest));
    findings.figure("  longest wait for held text across a jump, ms", Math.round(heard));
    findings.figure("  real time, s", Math.round((Date.now() - before) / 1_000));
  });

/** Sequences rise without a gap, versions likewise in each stream, whatever the dates say. */
const order = (findings: Findings, main: DatabaseSync): { readonly events: number; readonly back: number } => {
  const versions = new Map<string, number>();
  let expected = 1;
  let back = 0;
  let date = "";
  for (const row of main
    .prepare("SELECT sequence, stream_id, version, occurred_at FROM events ORDER BY sequence")
    .all()) {
    const stream = String(row["stream_id"]);
    const version = (versions.get(stream) ?? 0) + 1;
    findings.expect(
      Number(row["sequence"]) === expected,
      `sequence ${String(row["sequence"])} is not ${expected} (I3)`,
    );
    findings.expect(Number(row["version"]) === version, `version of ${stream} is not ${version} (I3)`, row["version"]);
    versions.set(stream, version);
    expected += 1;
    if (String(row["occurred_at"]) < date) back += 1;
    date = String(row["occurred_at"]);
  }
  return { events: expected - 1, back };
};
