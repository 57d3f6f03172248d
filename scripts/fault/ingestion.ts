import { Findings } from "./findings.ts";
import { inCopy, integrityProblems, markersOf, openRows, survivorsOf, withFolders, type Folders } from "./folders.ts";
import { addAgents, agentOf } from "./ingestion/agents.ts";
import { Drive } from "./ingestion/drive.ts";
import { Ledger } from "./ingestion/ledger.ts";
import type { FaultContext } from "./main.ts";
import { numbersOf, someSeed } from "./options.ts";
import { makeRandom, type Random } from "./random.ts";
import { get, pause, post, startAndKill, startServer, type Server } from "./server.ts";

/** Kills over one data folder; then a fresh one, so that what is checked after each does not grow without end. */
const killsAFolder = 25;
const threadCount = 10;

export const ingestion = async ({ args }: FaultContext): Promise<void> => {
  const { kills, seed } = numbersOf(args, { kills: 200, seed: someSeed() });
  const findings = await killsUnderStream({ kills, seed });
  findings.finish("ingestion");
};

/**
 * Kills the server while scripted agents in processes of their own stream numbered texts into ten threads, and checks
 * after each restart that nothing was lost, doubled, or left open. Returns what it found.
 */
export const killsUnderStream = async ({
  kills,
  seed,
}: {
  readonly kills: number;
  readonly seed: number;
}): Promise<Findings> => {
  const findings = new Findings(seed);
  const totals = { kills: 0, starting: 0, records: 0, events: 0, characters: 0, survivors: 0, ready: 0 };
  for (let done = 0, folder = 0; done < kills; done += killsAFolder, folder += 1) {
    const random = makeRandom(seed + folder);
    await withFolders("ingestion", async (folders) => {
      const run = new Run(findings, folders, random, totals);
      await run.play(Math.min(killsAFolder, kills - done), `f${folder}`);
      if (findings.violations.length > 0) throw findings.asError("ingestion");
    });
  }
  findings.figure("kills", totals.kills);
  findings.figure("of them while the server was starting", totals.starting);
  findings.figure("records compared", totals.records);
  findings.figure("events compared", totals.events);
  findings.figure("characters compared", totals.characters);
  findings.figure("agents that outlived their host, and were ended", totals.survivors);
  findings.figure("ready after a kill, on average, ms", Math.round(totals.ready / Math.max(1, totals.kills)));
  return findings;
};

type Totals = Record<"kills" | "starting" | "records" | "events" | "characters" | "survivors" | "ready", number>;

/** One data folder. */
class Run {
  readonly #findings: Findings;
  readonly #folders: Folders;
  readonly #random: Random;
  readonly #totals: Totals;

  constructor(findings: Findings, folders: Folders, random: Random, totals: Totals) {
    this.#findings = findings;
    this.#folders = folders;
    this.#random = random;
    this.#totals = totals;
  }

  async play(kills: number, name: string): Promise<void> {
    const { data, work } = this.#folders;
    const findings = this.#findings;
    const random = this.#random;
    const threads = Array.from({ length: threadCount }, (_, index) => `${name}-t${index}`);
    const ledgers = threads.map((thread) => new Ledger(findings, thread));
    let server = await startServer(data, work);
    await post(server.call, "/projects", { root: work });
    await addAgents(server.call);
    for (const [index, threadId] of threads.entries())
      await post(server.call, "/threads", { threadId, cwd: work, instance: agentOf(index) });

    const drive = new Drive(threads, random);
    for (let kill = 0; kill < kills; kill += 1) {
      const moment = `after kill ${kill + 1} of folder ${name}`;
      // At least so many turns under way, then some time more: the moment falls anywhere in a turn.
      await drive.round(
        server.call,
        `k${kill}`,
        { turns: random.below(threadCount), pauseMs: random.below(1_500) },
        () => server.kill(),
      );
      this.#totals.kills += 1;
      const markers = await this.#checkFiles(moment);
      this.#totals.survivors += (await survivorsOf(markers)).length;
      if (random.below(8) === 0) {
        await startAndKill(data, work, random.below(1_500));
        this.#totals.kills += 1;
        this.#totals.starting += 1;
        await this.#checkFiles(`${moment}, killed again while starting`);
      }
      server = await startServer(data, work);
      this.#totals.ready += server.readyMs;
      const left = await survivorsOf(markers);
      findings.expect(left.length === 0, `processes are left ${moment}`, left);
      for (const ledger of ledgers) await ledger.check(server.call, moment);
      drive.checkAcknowledged(findings, ledgers, moment);
      if (kill % 5 === 4) await this.#rebuiltIsLive(server, moment);
      if (findings.violations.length > 0) break;
    }

    await this.#rebuiltIsLive(server, "at the end");
    const markers = inCopy(data, markersOf);
    const code = await server.stop();
    findings.expect(
      code === 0 || code === 130 || code === 143,
      `the server ends with ${String(code)}`,
      server.complaints(),
    );
    const open = inCopy(data, openRows);
    findings.expect(open.length === 0, "rows are open after an orderly end (I8)", open);
    await pause(200);
    const left = await survivorsOf(markers);
    findings.expect(left.length === 0, "processes are left after an orderly end", left);
    for (const { records, events, characters } of ledgers) {
      this.#totals.records += records;
      this.#totals.events += events;
      this.#totals.characters += characters;
    }
  }

  /** I14, with the files whole. */
  async #rebuiltIsLive({ call }: Server, moment: string): Promise<void> {
    const { problems, differences } = await get(call, "/maintenance/check");
    this.#findings.expect(problems.length === 0, `the files have problems ${moment}`, problems);
    this.#findings.expect(differences.length === 0, `rebuilt is not live ${moment} (I14)`, differences);
  }

  /** Both databases whole, the log without a gap. Returns the markers of processes that the folder's sessions own. */
  #checkFiles(moment: string): ReadonlyArray<string> {
    return inCopy(this.#folders.data, (main, journal) => {
      for (const [file, database] of [
        ["main.db", main],
        ["journal.db", journal],
      ] as const) {
        const problems = integrityProblems(database);
        this.#findings.expect(problems.length === 0, `${file} is damaged ${moment}`, problems);
      }
      const log = main.prepare("SELECT count(*) AS events, coalesce(max(sequence), 0) AS head FROM events").get();
      this.#findings.expect(log?.["events"] === log?.["head"], `the log has gaps ${moment} (I3)`, log);
      return markersOf(main);
    });
  }
}
