import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Findings } from "../findings.ts";
import { survivorsOf, withFolders } from "../folders.ts";
import { get, pause, post, startServer, type Call } from "../server.ts";
import { isOpenRow, until, type Page } from "./looking.ts";

const methods = ["open", "prompt", "steer", "answer", "interrupt", "close"] as const;
type Method = (typeof methods)[number];
type Fault = "hangs" | "dies";

const dying = fileURLToPath(new URL("./dying-agent.mjs", import.meta.url));
const agent = fileURLToPath(new URL("../../../packages/providers/src/scripted/child.ts", import.meta.url));

/** Native interrupt 5 s, TERM 2 s, KILL 1 s; the rest is for a machine that does other things too. */
const stopDeadline = 8_000 + 22_000;
/** Side by side: one that hangs delays no other's stop. */
const atOnce = 3;

/** What a turn does until somebody stops it; it leaves a shell that began a session of its own. */
const steps = (method: Method): ReadonlyArray<object> => [
  { do: "tool", itemType: "command", title: "server", run: "setsid sleep 600 >/dev/null 2>&1 & echo begun" },
  { do: "text", text: "I begin and", end: false },
  ...(method === "answer" ? [{ do: "approval", name: "go", action: "command", title: "Go on?", subject: {} }] : []),
  { do: "silence" },
];

const instanceOf = (method: Method, fault: Fault) => ({
  id: `${method}-${fault}`,
  runtime: "scripted",
  ...(fault === "dies" ? { command: process.execPath, args: [dying, method, agent] } : {}),
  options: {
    process: true,
    script: {
      name: `${method} ${fault}`,
      // One that does not answer does not go when it is asked to, either.
      on: fault === "hangs" ? { [method]: "hang", terminate: "hang", eof: "hang" } : {},
      otherwise: steps(method),
    },
  },
});

/** A runtime that hangs in each call, and one that dies in each: a person can stop it, and nothing of it stays (I9). */
export const unrulyRuntimes = (findings: Findings): Promise<void> =>
  withFolders("unruly", async ({ data, work }) => {
    const server = await startServer(data, work);
    await post(server.call, "/projects", { root: work });
    const cases = (["hangs", "dies"] as const).flatMap((fault) => methods.map((method) => ({ fault, method })));
    const times: Array<readonly [what: string, ms: number]> = [];
    const markers: Array<string> = [];
    for (const { method, fault } of cases) await post(server.call, "/instances", instanceOf(method, fault));
    const all: Array<Awaited<ReturnType<typeof unruly>>> = [];
    for (let from = 0; from < cases.length; from += atOnce) {
      const group = cases.slice(from, from + atOnce);
      all.push(...(await Promise.all(group.map((one) => unruly(findings, server.call, { ...one, work, data })))));
    }
    for (const [index, { method, fault }] of cases.entries()) {
      times.push([`${fault} in ${method}`, all[index]?.stopMs ?? 0]);
      markers.push(...(all[index]?.markers ?? []));
    }
    await server.stop();
    const left = await survivorsOf(markers);
    findings.expect(left.length === 0, "processes of unruly runtimes are left at the end (I9)", left);
    findings.figure("runtimes that hang or die in a call", cases.length);
    for (const [what, ms] of times) findings.figure(`  ${what}: stopped after, ms`, Math.round(ms));
    findings.figure("  process trees looked for", markers.length);
  });

const unruly = async (
  findings: Findings,
  call: Call,
  {
    method,
    fault,
    work,
    data,
  }: { readonly method: Method; readonly fault: Fault; readonly work: string; readonly data: string },
): Promise<{ readonly stopMs: number; readonly markers: ReadonlyArray<string> }> => {
  const what = `a runtime that ${fault} in ${method}`;
  const threadId = `${method}-${fault}`;
  const inputId = `${threadId}-input`;
  const path = `/threads/${threadId}`;
  await post(call, "/threads", { threadId, cwd: work, instance: threadId, input: { inputId, text: "go" } });
  const markers = await markersOnceSpawned(data, threadId);

  const reached = method !== "open" && method !== "prompt";
  if (reached) {
    await until(call, threadId, ({ rows }) =>
      rows.some((row: { kind: string; role?: string }) => row.kind === "message" && row.role === "assistant"),
    );
  } else await until(call, threadId, ({ thread }) => thread.session !== undefined);
  if (method === "steer")
    await call(`${path}/inputs`, { body: { inputId: `${threadId}-steer`, text: "and", delivery: "steer" } });
  if (method === "answer") {
    const { thread } = await until(call, threadId, ({ thread: { pendingRequests } }) => pendingRequests.length > 0);
    const [{ id }] = thread.pendingRequests;
    await call(`/requests/${encodeURIComponent(id)}/answer`, { body: { threadId, answer: { optionId: "allow" } } });
  }
  if (method === "close") await call(`${path}/release`, { body: {} });
  else await pause(300);

  const begun = performance.now();
  if (method !== "close") {
    const { thread } = await get(call, path);
    const target = thread.activeTurnId === undefined ? { inputId } : { turnId: thread.activeTurnId };
    // Refused where it is over already, by its own death.
    await call(`${path}/interrupt`, { body: target });
  }
  const stopped = await until(call, threadId, isStopped, stopDeadline);
  const stopMs = performance.now() - begun;
  findings.expect(isStopped(stopped), `${what}: not stopped within the deadline (I9)`, stopped.thread);
  // What was said to it follows when its call is given up, which for a steer may be later than its turn's end.
  const settled = await until(call, threadId, isSettled, stopDeadline);
  findings.expect(isSettled(settled), `${what}: an input stays with it`, settled.inputs);

  await call(`${path}/release`, { body: {} });
  const over = await until(call, threadId, isOver, stopDeadline);
  findings.expect(isOver(over), `${what}: its session is not over`, over.thread.session);
  const open = over.rows.filter(isOpenRow);
  findings.expect(open.length === 0, `${what}: open afterwards (I8)`, open);
  let left = await survivorsOf(markers);
  for (let patience = 0; left.length > 0 && patience < 40; patience += 1) {
    await pause(250);
    left = await survivorsOf(markers);
  }
  findings.expect(left.length === 0, `${what}: processes are left (I9)`, left);
  findings.expect(markers.length > 0, `${what}: no process was seen`);
  return { stopMs, markers };
};

const isStopped = ({ thread, turns, inputs }: Page): boolean =>
  thread.activeTurnId === undefined &&
  turns.every(({ state }: { state: string }) => state !== "running") &&
  // Before there is a turn, stopping is about the input that would begin one.
  (turns.length > 0 || isSettled({ inputs }));

const isSettled = ({ inputs }: Page): boolean =>
  inputs.every(({ state }: { state: string }) => state !== "handed_over" && state !== "started" && state !== "queued");

const isOver = ({ thread }: Page): boolean => ["exited", "released", "failed"].includes(thread.session?.state);

/** Markers of a thread's processes: known before they are spawned, forgotten when they are gone. */
const markersOnceSpawned = async (data: string, threadId: string): Promise<ReadonlyArray<string>> => {
  const main = new DatabaseSync(join(data, "main.db"), { readOnly: true });
  try {
    const find = main.prepare("SELECT marker FROM processes WHERE thread_id = ?");
    for (let patience = 0; patience < 2_000; patience += 1) {
      const found = find.all(threadId).map((row) => String(row["marker"]));
      if (found.length > 0) return found;
      await pause(5);
    }
    return [];
  } finally {
    main.close();
  }
};
