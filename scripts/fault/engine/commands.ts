import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { Findings } from "../findings.ts";
import { inCopy, integrityProblems, withFolders } from "../folders.ts";
import { makeRandom, type Random } from "../random.ts";
import { get, pause, post, startServer, type Answered, type Call, type CallOptions } from "../server.ts";

const killsAFolder = 50;
const clients = 16;

interface Sent {
  readonly key: string;
  readonly path: string;
  readonly options: CallOptions;
  /** Absent: the connection broke before an answer came. */
  answer?: Answered;
}

/** Kills the server while sixteen clients send commands, and holds what they were told against the log (I1, I2). */
export const commandsUnderKill = async (
  findings: Findings,
  { kills, seed }: { readonly kills: number; readonly seed: number },
): Promise<void> => {
  const totals = { sent: 0, acknowledged: 0, unknown: 0, unknownDone: 0, repeated: 0, ready: 0 };
  for (let done = 0, folder = 0; done < kills; done += killsAFolder, folder += 1)
    await withFolders("commands", async ({ data, work }) => {
      const random = makeRandom(seed + 1_000 + folder);
      const all: Array<Sent> = [];
      let server = await startServer(data, work);
      await post(server.call, "/projects", { root: work });
      await post(server.call, "/instances", { id: "silent", runtime: "scripted", options: { script: silent } });
      const count = Math.min(killsAFolder, kills - done);
      for (let kill = 0; kill < count; kill += 1) {
        const moment = `after kill ${kill + 1} of folder ${folder}`;
        const sent = await load(server.call, `f${folder}k${kill}`, work, random, () => server.kill());
        all.push(...sent);
        inCopy(data, (main, journal) => {
          const problems = [...integrityProblems(main), ...integrityProblems(journal)];
          findings.expect(problems.length === 0, `the files are damaged ${moment}`, problems);
          totals.unknownDone += compare(findings, main, sent, moment);
        });
        server = await startServer(data, work);
        totals.ready += server.readyMs;
        totals.repeated += await repeat(findings, server.call, sent, random, moment);
        totals.sent += sent.length;
        const unknown = sent.filter(({ answer }) => answer === undefined).length;
        totals.unknown += unknown;
        totals.acknowledged += sent.length - unknown;
        if (findings.violations.length > 0) throw findings.asError("engine");
      }
      const checked = await get(server.call, "/maintenance/check");
      findings.expect(checked.problems.length === 0, "the files have problems at the end", checked.problems);
      findings.expect(checked.differences.length === 0, "rebuilt is not live (I14)", checked.differences);
      await server.stop();
      // By now every command was sent again: each has happened, once.
      inCopy(data, (main) => {
        for (const { key } of all) {
          const types = typesOf(main, key);
          findings.expect(types.length > 0, `${key} was acknowledged and is not in the log (I1)`);
        }
        compare(findings, main, all, "at the end");
      });
    });
  findings.figure("kills under commands", kills);
  findings.figure("  commands sent", totals.sent);
  findings.figure("  acknowledged before the kill, all in the log", totals.acknowledged);
  findings.figure("  without an answer when the kill came", totals.unknown);
  findings.figure("  of them done all the same", totals.unknownDone);
  findings.figure("  repeated afterwards, same receipt", totals.repeated);
  findings.figure("  ready after a kill, on average, ms", Math.round(totals.ready / Math.max(1, kills)));
};

/** Its turn never ends, so that inputs stay in the queue. */
const silent = { name: "silent", otherwise: [{ do: "silence" }] };

/** Sixteen clients send until the kill; each waits for its answers. */
const load = async (
  call: Call,
  name: string,
  cwd: string,
  random: Random,
  kill: () => Promise<void>,
): Promise<ReadonlyArray<Sent>> => {
  const sent: Array<Sent> = [];
  const people = { areThere: true };
  const client = async (index: number): Promise<void> => {
    for (let n = 0; people.areThere; n += 1) {
      const threadId = `${name}-c${index}-${Math.floor(n / 6)}`;
      const one: Sent = { key: `${name}-c${index}-n${n}`, ...command(n % 6, threadId, cwd) };
      sent.push(one);
      const { path, options, key } = one;
      const answer = await call(path, { ...options, key });
      if (answer.status === 0) return;
      one.answer = answer;
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  await pause(150 + random.below(900));
  const killed = kill();
  people.areThere = false;
  await killed;
  await all;
  return sent;
};

/** A thread's short life: made with a first input (one command, two events), renamed, given inputs, and so on. */
const command = (step: number, threadId: string, cwd: string): Pick<Sent, "path" | "options"> => {
  const input = (inputId: string) => ({ inputId, text: `say ${inputId}`, delivery: "queue" });
  const path = `/threads/${threadId}`;
  switch (step) {
    case 0:
      return {
        path: "/threads",
        options: { body: { threadId, cwd, instance: "silent", input: input(`${threadId}-i0`) } },
      };
    case 1:
      return { path, options: { method: "PATCH", body: { title: `Title of ${threadId}` } } };
    case 2:
      return { path: `${path}/inputs`, options: { body: input(`${threadId}-i1`) } };
    case 3:
      return { path: `${path}/inputs`, options: { body: input(`${threadId}-i2`) } };
    case 4:
      return { path: `${path}/inputs/${threadId}-i2`, options: { method: "PATCH", body: { text: "otherwise" } } };
    default:
      return { path, options: { method: "PATCH", body: { archived: true } } };
  }
};

const typesOf = (main: DatabaseSync, key: string): ReadonlyArray<string> => byCommand(main).get(key) ?? [];

const known = new WeakMap<DatabaseSync, ReadonlyMap<string, ReadonlyArray<string>>>();

/** Types of the events of each command. The log has no index by command: read once a copy. */
const byCommand = (main: DatabaseSync): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = known.get(main);
  if (found !== undefined) return found;
  const types = new Map<string, Array<string>>();
  for (const row of main
    .prepare("SELECT command_id, type FROM events WHERE command_id IS NOT NULL ORDER BY sequence")
    .all()) {
    const key = String(row["command_id"]);
    const list = types.get(key) ?? [];
    list.push(String(row["type"]));
    types.set(key, list);
  }
  known.set(main, types);
  return types;
};

/** Returns how many without an answer were done. */
const compare = (findings: Findings, main: DatabaseSync, sent: ReadonlyArray<Sent>, moment: string): number => {
  const receipt = main.prepare("SELECT body FROM receipts WHERE command_id = ?");
  let unknownDone = 0;
  for (const { key, path, answer } of sent) {
    const types = typesOf(main, key);
    const stored = receipt.get(key);
    const isRejected = answer !== undefined && answer.status !== 200;
    if (answer !== undefined)
      findings.expect(stored !== undefined, `${key} was answered ${answer.status} and has no receipt ${moment} (I1)`);
    if (answer?.status === 200)
      findings.expect(types.length > 0, `${key} was acknowledged and is not in the log ${moment} (I1)`);
    if (isRejected) findings.expect(false, `${key} was refused ${moment}`, answer.body);
    if (answer === undefined && types.length > 0) unknownDone += 1;
    findings.expect(types.length > 0 === (stored !== undefined), `${key} is half there ${moment} (I1)`, types);
    findings.expect(new Set(types).size === types.length, `${key} was done twice ${moment} (I2)`, types);
    if (path === "/threads" && types.length > 0)
      findings.expect(
        isDeepStrictEqual(types.slice(0, 2), ["thread.created", "input.queued"]),
        `${key} is half there ${moment} (I1)`,
        types,
      );
  }
  return unknownDone;
};

/** Every command again that got no answer, and some of the others: the first answer counts (I2). */
const repeat = async (
  findings: Findings,
  call: Call,
  sent: ReadonlyArray<Sent>,
  random: Random,
  moment: string,
): Promise<number> => {
  const again = sent.filter(({ answer }) => answer === undefined || random.below(5) === 0);
  for (const { key, path, options, answer } of again) {
    const second = await call(path, { ...options, key });
    findings.expect(second.status === 200, `${key} is not taken again ${moment} (I2)`, second);
    if (answer !== undefined)
      findings.expect(isDeepStrictEqual(second, answer), `${key} has another receipt ${moment} (I2)`, [answer, second]);
  }
  return again.length;
};
