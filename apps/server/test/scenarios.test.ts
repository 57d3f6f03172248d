import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { runScenario } from "../src/scenario/run.ts";
import type { ScenarioOutput } from "../src/scenario/run.ts";
import { openWithoutSession } from "./support/open-work.ts";
import { afterEachLine, afterLine, at, scenarioFiles, scriptLines, shapedLike } from "./support/scenario-file.ts";
import type { ScenarioFile } from "./support/scenario-file.ts";

const run = (text: string): Promise<ScenarioOutput> => Effect.runPromise(runScenario(text));

/** The run without disturbance, done once for all that compares with it; rebuilt at its end, it is the same (I14). */
const plainRuns = new Map<string, Promise<ScenarioOutput>>();
const rebuilt = async (text: string): Promise<ScenarioOutput> => {
  const differences: Array<unknown> = [];
  const output = await Effect.runPromise(
    runScenario(text, { onDifferences: (found) => void differences.push(...found) }),
  );
  expect(differences).toEqual([]);
  return output;
};
const plain = ({ name, text }: ScenarioFile): Promise<ScenarioOutput> => {
  const known = plainRuns.get(name) ?? rebuilt(text);
  plainRuns.set(name, known);
  return known;
};

const check = (output: ScenarioOutput, { expectations }: ScenarioFile): void => {
  for (const { path, expected } of expectations) {
    const actual = at(output, path);
    expect({ [path]: shapedLike(actual, expected) }).toEqual({ [path]: expected });
  }
};

const named = scenarioFiles.map((file, index) => [file.name, file, index] as const);

describe("scenario files", () => {
  it("are many, and each expects something", () => {
    expect(scenarioFiles.length).toBeGreaterThanOrEqual(60);
    expect(scenarioFiles.filter(({ expectations }) => expectations.length === 0)).toEqual([]);
  });

  it.each(named)("%s", async (_, file) => {
    const output = await plain(file);
    check(output, file);
    expect(openWithoutSession(output.final)).toEqual([]);
  });
});

/** Opening hangs there: a call of the memory that is lost, and no session yet that could survive. */
const withoutSurvivor = new Set(["interrupt-unsent-prompt"]);

describe("scenario files, memory lost after every line while the runtime survives", () => {
  it.each(named.filter(([name]) => !withoutSurvivor.has(name)))("%s", async (_, file) => {
    const [undisturbed, replayed] = await Promise.all([
      plain(file),
      run(afterEachLine(file.text, '{"crash":"replay"}')),
    ]);
    expect(replayed.final).toEqual(undisturbed.final);
    expect(replayed.snapshots).toEqual(undisturbed.snapshots);
    expect(replayed.calls).toEqual(undisturbed.calls);
  });
});

describe("scenario files, killed after one of the lines (I1 to I8)", () => {
  it.each(named)("%s", async (_, file, index) => {
    const after = index % scriptLines(file.text);
    const { final, events } = await run(afterLine(file.text, after, '{"crash":true}\n{"snapshot":"crashed"}'));
    expect(openWithoutSession(final)).toEqual([]);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, position) => position + 1));
  });
});
