import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { compare, keepsBudget, percentile, type Figure } from "../../scripts/bench/harness.ts";
import { tableOf } from "../../scripts/bench/table.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-bench-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = async (script: string, args: ReadonlyArray<string>) => {
  const path = fileURLToPath(new URL(`../../scripts/${script}/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
};

describe("compare", () => {
  test("runs both sides in turns, throws the first round away, and takes medians", async () => {
    const order: Array<string> = [];
    const contestant = (name: string, units: ReadonlyArray<number>) => {
      let next = 0;
      const runOnce = () => {
        order.push(name);
        next += 1;
        return { units: units[next - 1] ?? 0, seconds: 2 };
      };
      return { name, run: runOnce };
    };
    const figure = await compare(
      {
        what: "writes",
        unit: "rows",
        subject: contestant("subject", [9999, 100, 300, 200]),
        baseline: contestant("baseline", [1, 200, 400, 800]),
        budget: { atLeast: 100 },
      },
      3,
    );
    expect(order.join(" ")).toBe("subject baseline subject baseline baseline subject subject baseline");
    expect(figure).toEqual({
      what: "writes",
      value: 100,
      unit: "rows/s",
      spread: [50, 150],
      budget: { atLeast: 100 },
      baseline: { name: "baseline", value: 200, ratio: 0.5 },
    });
    expect(keepsBudget(figure)).toBe(true);
  });
});

test("percentiles are values that were measured", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([percentile(values, 0), percentile(values, 0.5), percentile(values, 0.99)]).toEqual([1, 51, 100]);
  expect(percentile([], 0.5)).toBeNaN();
});

test("the table says which budgets were kept", () => {
  const figures: ReadonlyArray<Figure> = [
    { what: "rate", value: 12_345.6, unit: "commands/s", budget: { atLeast: 12_000 } },
    {
      what: "p99",
      value: 6.789,
      unit: "ms",
      budget: { atMost: 5 },
      baseline: { name: "raw", value: 2, ratio: 3.3945 },
    },
  ];
  const [, rate, p99] = tableOf(figures).split("\n");
  expect(rate).toMatch(/^rate +12,346 commands\/s +≥ 12,000 kept$/);
  expect(p99).toMatch(/^p99 +6\.79 ms +≤ 5 MISSED +2 raw +3\.39$/);
});

describe("npm run bench, fault, record", () => {
  test.each(["bench", "fault", "record"])("%s --help says what there is", async (script) => {
    const { code, output } = await run(script, ["--help"]);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(`npm run ${script} -- <name>`) });
  });

  test("an unknown name is an error that lists the known ones", async () => {
    const { code, output } = await run("bench", ["nope"]);
    expect(code).toBe(2);
    expect(output).toContain('no bench named "nope"');
    expect(output).toContain("raw-sqlite");
  });

  test("a bench prints its figures and writes them with the machine", async () => {
    const out = join(folder, "raw.json");
    const { code, output } = await run("bench", ["raw-sqlite", "--scale", "0.01", "--rounds", "1", "--out", out]);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("groups of 256, FULL") });
    expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({
      bench: "raw-sqlite",
      scale: 0.01,
      machine: { node: process.versions.node, cores: expect.any(Number), cpu: expect.any(String) },
      figures: [
        { unit: "commands/s", value: expect.any(Number), baseline: { ratio: expect.any(Number) } },
        { unit: "commands/s", value: expect.any(Number), baseline: { ratio: expect.any(Number) } },
      ],
    });
  });
});
