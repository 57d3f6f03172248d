/** The suite as vitest tests: one server, one driver, every case. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { groups } from "./cases/index.ts";
import { Stage, type Case, type Facts } from "./case.ts";
import type { Driver, DriverSource } from "./driver.ts";
import { afterwards } from "./world/afterwards.ts";
import { World } from "./world/world.ts";
import type { StartServer } from "./world/server.ts";

/**
 * `drift`: it fails, with another version of the program than the pin. What was seen holds for the pin: look at the
 * program first, then at the adapter.
 */
export type Verdict = "pass" | "fail" | "drift" | "skip";

export interface Result {
  readonly group: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** Of a skip. */
  readonly reason?: string;
}

export interface Report {
  readonly runtime: string;
  readonly version: string;
  readonly pin: string;
  /** Whether all cases ran, not the fast part or a selection only. */
  readonly isWhole: boolean;
  readonly results: ReadonlyArray<Result>;
}

export interface SuiteOptions {
  readonly startServer: StartServer;
  readonly driver: DriverSource;
  /** The part for every CI run. */
  readonly isFast?: boolean;
  /** These groups only. */
  readonly only?: ReadonlyArray<string>;
  /** A case may take this long, milliseconds. */
  readonly timeout?: number;
  /** At the end, with what became of each case. */
  readonly onReport?: (report: Report) => void;
}

/** A case, and then what must hold after every case. */
export const perform = async (one: Case, stage: Stage): Promise<void> => {
  try {
    await one.run(stage);
    for (const thread of stage.threads) if (!thread.isDeleted) await afterwards(thread);
  } finally {
    for (const thread of stage.threads) {
      thread.dispose();
      await thread.feed.cut();
    }
    stage.driver.reset();
  }
};

/** What a failure is, by the version that it was seen with. */
export const failure = (
  { runtime, pin }: Pick<DriverSource, "runtime" | "pin">,
  version: string,
  error: unknown,
): { readonly verdict: "fail" | "drift"; readonly error: unknown } =>
  version === pin
    ? { verdict: "fail", error }
    : {
        verdict: "drift",
        error: new Error(`DRIFT: ${runtime} ${version} is not the pinned ${pin}. ${String(error)}`, { cause: error }),
      };

/** Declares the suite for one instance of one runtime. */
export const conformance = (options: SuiteOptions): void => {
  const { driver: source, isFast = false, only, timeout = 90_000, onReport } = options;
  const chosen = groups.filter(({ name }) => only?.includes(name) ?? true);
  const world = new World(options.startServer);
  const results: Array<Result> = [];
  let driver: Driver;
  let facts: Facts;
  let version = "";

  beforeAll(async () => {
    [driver] = (await world.start([source])) as [Driver];
    const { installation } = await world.client.instance(driver.instances.main.id);
    if (installation.capabilities === undefined)
      throw new Error(`${source.runtime} declares nothing: ${installation.problem ?? "it is not available"}`);
    version = installation.version ?? "unknown";
    facts = {
      capabilities: installation.capabilities,
      paths: await world.client.paths(),
      isServerProcess: world.server.process !== undefined,
    };
  }, timeout);

  afterAll(async () => {
    const left = await world.stop();
    const cases = groups.flatMap((group) => group.cases);
    onReport?.({
      runtime: source.runtime,
      version,
      pin: source.pin,
      isWhole: !isFast && results.length === cases.length,
      results,
    });
    // A case that failed may have left something; where none did, nobody may have.
    if (results.every(({ verdict }) => verdict === "pass" || verdict === "skip"))
      expect(left, "still running after the server's end").toEqual([]);
  }, timeout);

  for (const group of chosen) {
    describe(group.name, () => {
      for (const one of group.cases) {
        if (isFast && one.fast !== true) continue;
        const note = (verdict: Verdict, reason?: string): void => {
          results.push({ group: group.name, name: one.name, verdict, ...(reason === undefined ? {} : { reason }) });
        };
        it(one.name, { timeout }, async (context) => {
          const reason = one.skip?.(facts);
          if (reason !== undefined) {
            note("skip", reason);
            context.skip(reason);
          }
          try {
            await perform(one, new Stage(world, driver, facts, one.process === true));
            note("pass");
          } catch (error) {
            const failed = failure(source, version, error);
            note(failed.verdict);
            // What can't be recovered fails the next case.
            await world.recover().catch(() => {});
            throw failed.error;
          }
        });
      }
    });
  }
};
