import { afterLine, openWithoutSession, runScenario, scenarioFiles, scriptLines } from "@tributary/server/test-support";
import { Effect } from "effect";
import { Findings } from "./findings.ts";
import type { FaultContext } from "./main.ts";

const crash = '{"crash":true}';

/** No scenario waits for real time; one that takes this long does not end. */
const runDeadline = "60 seconds";

/** Every scenario file, killed after every one of its lines, each position a run of its own (I1 to I8). */
export const scenarios = async ({ args }: FaultContext): Promise<void> => {
  const [only] = args;
  const findings = new Findings();
  const files = scenarioFiles.filter(({ name }) => only === undefined || name.includes(only));
  let runs = 0;
  let events = 0;
  for (const { name, text } of files) {
    const lines = scriptLines(text);
    const begun = performance.now();
    for (let line = 0; line < lines; line += 1) {
      const where = `${name}, killed after line ${line + 1} of ${lines}`;
      runs += 1;
      try {
        const script = `${afterLine(text, line, `${crash}\n{"snapshot":"crashed"}`)}\n{"snapshot":"end"}\n{"rebuild":true}`;
        const output = await Effect.runPromise(Effect.timeout(runScenario(script), runDeadline));
        events += output.events.length;
        check(findings, where, output);
      } catch (cause) {
        findings.expect(false, `${where}: the run fails`, String(cause));
      }
    }
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    const megabytes = Math.round(process.memoryUsage().heapUsed / 1e6);
    process.stderr.write(`${name}: ${lines} kills, ${seconds} s, ${megabytes} MB in use\n`);
  }
  findings.expect(runs > 0, `no scenario is named like "${only ?? ""}"`);
  findings.figure("scenario files", files.length);
  findings.figure("runs, one kill each", runs);
  findings.figure("events checked", events);
  findings.finish("scenarios");
};

type Output = Effect.Success<ReturnType<typeof runScenario>>;
type Payload = Readonly<Record<string, unknown>>;

const check = (findings: Findings, where: string, { events, final, receipts, snapshots }: Output): void => {
  // I8: nothing at work without a session, right after the kill and at the end.
  for (const [moment, state] of [
    ["after the kill", snapshots["crashed"]],
    ["at the end", final],
  ] as const) {
    const open = state === undefined ? ["no snapshot"] : openWithoutSession(state);
    findings.expect(open.length === 0, `${where}: open ${moment} (I8)`, open);
  }
  // I3: sequences without a gap.
  const gap = events.find(({ sequence }, index) => sequence !== index + 1);
  findings.expect(gap === undefined, `${where}: sequences have a gap (I3)`, gap);
  // I1: an accepted command is in the log, as far as its receipt says.
  const head = events.length;
  const lost = receipts.find(({ sequence }) => sequence !== undefined && sequence > head);
  findings.expect(lost === undefined, `${where}: a receipt is beyond the log (I1)`, lost);
  // I2, I7: each of these happens to one thing at most once.
  for (const [type, key] of once) {
    const seen = new Set<unknown>();
    for (const event of events) {
      if (event.type !== type) continue;
      const payload = event.payload as Payload;
      if (payload["again"] === true) continue;
      const id = JSON.stringify([event.threadId, key === undefined ? undefined : payload[key]]);
      findings.expect(!seen.has(id), `${where}: ${type} twice (I2, I7)`, payload);
      seen.add(id);
    }
  }
  // I4: every piece of a text begins where the one before it ended.
  const lengths = new Map<unknown, number>();
  for (const { type, payload } of events) {
    const { messageId, offset, text } = payload as Payload;
    if (type === "message.replaced") lengths.set(messageId, String(text).length);
    if (type !== "message.appended") continue;
    const length = lengths.get(messageId) ?? 0;
    findings.expect(offset === length, `${where}: a piece of ${String(messageId)} is out of place (I4)`, payload);
    lengths.set(messageId, length + String(text).length);
  }
  // I14: made anew from the log, everything is as it was.
  findings.expect(
    JSON.stringify(final) === JSON.stringify(snapshots["end"]),
    `${where}: rebuilt is not what was there (I14)`,
  );
};

const once: ReadonlyArray<readonly [type: string, key: string | undefined]> = [
  ["thread.created", undefined],
  ["input.queued", "inputId"],
  ["turn.started", "turnId"],
  ["turn.ended", "turnId"],
  ["request.opened", "requestId"],
  ["request.answered", "requestId"],
  ["message.completed", "messageId"],
  ["activity.ended", "activityId"],
  ["session.exited", "generation"],
];
