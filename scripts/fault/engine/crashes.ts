import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Findings } from "../findings.ts";
import { inCopy, markersOf, survivorsOf, withFolders } from "../folders.ts";
import { pause, post, startServer, type Call } from "../server.ts";
import { isOpenRow, until, type Page } from "./looking.ts";

const reactors = ["open", "prompt", "steer", "configure", "answer", "interrupt", "close"] as const;
type Reactor = (typeof reactors)[number];
/** The runtime did nothing yet, or did it and its answer was lost. */
const faults = ["hang", "mute"] as const;
type Fault = (typeof faults)[number];

const relay = fileURLToPath(new URL("./forgetful-agent.mjs", import.meta.url));
const agent = fileURLToPath(new URL("../../../packages/providers/src/scripted/child.ts", import.meta.url));

interface Case {
  readonly reactor: Reactor;
  readonly fault: Fault;
  readonly threadId: string;
  readonly log: string;
}

/** Its turns go on until somebody stops them, but for the one that is asked to end. */
const script = (reactor: Reactor) => ({
  name: `crash in ${reactor}`,
  // It lives on when its host is gone, as agents do that nobody ends.
  on: { eof: "hang" },
  capabilities: { steer: true },
  turns: [{ match: "end", steps: [{ do: "text", text: "Done." }] }],
  otherwise: [
    { do: "tool", itemType: "command", title: "server", run: "setsid sleep 600 >/dev/null 2>&1 & echo begun" },
    { do: "text", text: "I begin and", end: false },
    ...(reactor === "answer" ? [{ do: "approval", name: "go", action: "command", title: "Go on?", subject: {} }] : []),
    { do: "silence" },
  ],
});

/**
 * The server is killed between the attempt and the outcome of every reactor, all of them in one kill; and again, as often as
 * asked, in turn with a runtime that had done nothing and with one that had done it. The next one tells what became of each, repeats nothing, and leaves no process.
 */
export const crashesInReactors = (findings: Findings, times: number): Promise<void> =>
  withFolders("crashes", async ({ base, data, work }) => {
    const told = new Map<string, Map<string, number>>();
    let killed = 0;
    for (let round = 0; round < times; round += 1) {
      const fault = faults[round % faults.length] ?? "hang";
      const cases = reactors.map((reactor): Case => {
        const threadId = `r${round}-${reactor}-${fault}`;
        return { reactor, fault, threadId, log: join(base, threadId) };
      });
      const before = await startServer(data, work);
      if (round === 0) await post(before.call, "/projects", { root: work });
      await Promise.all(cases.map((one) => reach(before.call, one, work)));
      const markers = inCopy(data, (main) => markersOf(main));
      await before.kill();
      killed += cases.length;
      const after = await startServer(data, work);
      const left = await survivorsOf(markers);
      findings.expect(left.length === 0, `round ${round}: survivors when commands are taken again (pain 23)`, left);
      await Promise.all(cases.map((one) => check(findings, after.call, one, told)));
      await after.stop();
      const all = await survivorsOf(inCopy(data, (main) => markersOf(main)).concat(markers));
      findings.expect(all.length === 0, `round ${round}: processes are left at the end (I9)`, all);
      if (findings.violations.length > 0) throw findings.asError("engine");
    }
    findings.figure("crashes between attempt and outcome of a reactor", killed);
    for (const reactor of reactors) {
      const outcomes = [...(told.get(reactor) ?? [])].map(([what, count]) => `${what} ${count}`).join(", ");
      findings.figure(`  in ${reactor}`, outcomes);
    }
  });

const calls = ({ log }: Case): ReadonlyArray<string> =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

/** Resolves once the call is with the agent, and stays without an answer. */
const reach = async (call: Call, one: Case, cwd: string): Promise<void> => {
  const { reactor, fault, threadId, log } = one;
  const path = `/threads/${threadId}`;
  await post(call, "/instances", {
    id: threadId,
    runtime: "scripted",
    command: process.execPath,
    args: [relay, log, reactor, fault, agent],
    options: { process: true, script: script(reactor) },
  });
  const first = { inputId: `${threadId}-i1`, text: reactor === "configure" ? "end" : "go" };
  await post(call, "/threads", { threadId, cwd, instance: threadId, input: first });
  const patient = (holds: (page: Page) => boolean) => until(call, threadId, holds, 180_000);
  const turn = () => patient(({ thread }) => thread.activeTurnId !== undefined);
  switch (reactor) {
    case "open":
    case "prompt":
      break;
    case "steer":
      await turn();
      await post(call, `${path}/inputs`, { inputId: `${threadId}-s1`, text: "and", delivery: "steer" });
      break;
    case "configure":
      await patient(({ turns }) => turns[0]?.state === "completed");
      await call(path, { method: "PATCH", body: { interactionMode: "plan" } });
      await post(call, `${path}/inputs`, { inputId: `${threadId}-i2`, text: "end again", delivery: "prompt" });
      break;
    case "answer": {
      const { thread } = await patient(({ thread: { pendingRequests } }) => pendingRequests.length > 0);
      const [{ id }] = thread.pendingRequests;
      await post(call, `/requests/${encodeURIComponent(id)}/answer`, { threadId, answer: { optionId: "allow" } });
      break;
    }
    case "interrupt":
      await turn();
      await post(call, `${path}/interrupt`, {});
      break;
    case "close":
      await turn();
      await post(call, `${path}/release`, {});
      break;
  }
  for (let patience = 0; !calls(one).some((line) => line.startsWith(reactor)); patience += 1) {
    if (patience > 18_000) throw new Error(`${threadId}: the call did not reach the agent: ${calls(one).join(", ")}`);
    await pause(10);
  }
};

const stateOf = (page: Page, inputId: string): string =>
  page.inputs.find(({ id }: { id: string }) => id === inputId)?.state ?? "over";

/** What must have been told of it, and that the agent was told nothing twice. */
const check = async (
  findings: Findings,
  call: Call,
  one: Case,
  told: Map<string, Map<string, number>>,
): Promise<void> => {
  const { reactor, fault, threadId } = one;
  const what = `${threadId}`;
  const first = `${threadId}-i1`;
  // Opening and configuring come before an input was sent: it goes by itself. Everything else is over.
  const goesOn = reactor === "open" || reactor === "configure";
  const sent = reactor === "open" ? first : `${threadId}-i2`;
  const page = await until(
    call,
    threadId,
    (now) =>
      goesOn
        ? reactor === "open"
          ? now.thread.activeTurnId !== undefined
          : now.turns.length === 2 && now.turns.every(({ state }: { state: string }) => state === "completed")
        : now.thread.activeTurnId === undefined && now.rows.every((row: Page) => !isOpenRow(row)),
    180_000,
  );
  const open = page.rows.filter(isOpenRow);
  if (!goesOn) findings.expect(open.length === 0, `${what}: open after the restart (I8)`, open);
  // Nothing is begun by itself later either.
  await pause(300);
  const log = calls(one);
  const count = (line: string) => log.filter((said) => said === line).length;
  for (const line of new Set(log.filter((said) => said.includes(" ") && !said.endsWith(" "))))
    findings.expect(count(line) === 1, `${what}: the agent was sent “${line}” ${count(line)} times (I2)`, log);

  const states: ReadonlyArray<string> = page.turns.map(({ state }: { state: string }) => state);
  const outcome = ((): string => {
    switch (reactor) {
      case "open":
        findings.expect(stateOf(page, first) === "started", `${what}: the input did not go by itself`, page.inputs);
        return "opened again, the input sent once";
      case "configure":
        findings.expect(count(`prompt ${sent}`) === 1, `${what}: the second prompt was not sent once`, log);
        return "opened again with the setting, the input sent once";
      case "prompt":
        findings.expect(
          stateOf(page, first) === "unconfirmed" || (fault === "mute" && states[0] === "lost"),
          `${what}: the prompt is neither unconfirmed nor shown as begun`,
          page.inputs,
        );
        return states[0] === "lost" ? "begun by the journal, lost" : "unconfirmed";
      case "steer": {
        const state = stateOf(page, `${threadId}-s1`);
        findings.expect(states[0] === "lost", `${what}: the turn is not lost`, states);
        findings.expect(state === "unconfirmed" || fault === "mute", `${what}: the steer is ${state}`, page.inputs);
        return state === "unconfirmed" ? "unconfirmed" : "folded by the journal";
      }
      case "answer": {
        const row = page.rows.find(({ kind }: { kind: string }) => kind === "request");
        findings.expect(
          row?.state === "expired" || row?.state === "answered",
          `${what}: the request is not over (I7)`,
          row,
        );
        return row?.state === "answered" ? `answered, ${String(row.delivery)}` : "expired";
      }
      case "interrupt":
        findings.expect(states[0] === "interrupted", `${what}: who was stopped is not interrupted`, states);
        return "interrupted";
      case "close":
        findings.expect(page.thread.session?.state === "released", `${what}: it is not released`, page.thread.session);
        return "released";
    }
  })();
  const outcomes = told.get(reactor) ?? new Map<string, number>();
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  told.set(reactor, outcomes);
  if (goesOn) await call(`/threads/${threadId}/release`, { body: {} });
};
