/** The table of what each runtime passes, in the documentation. A run changes its own runtime's column only. */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Report, Result } from "./suite.ts";

const begin = "<!-- conformance: written by the suite, TRIBUTARY_WRITE_MATRIX=1 -->";
const end = "<!-- /conformance -->";

/** Cells by row and column; rows are `group › case`. */
export interface Matrix {
  /** Runtime → its heading. */
  readonly columns: ReadonlyMap<string, string>;
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Why cases are left out, a line each. */
  readonly notes: ReadonlyArray<string>;
}

const separator = " › ";
const words = { pass: "✓", fail: "**fails**", drift: "**drift**", skip: "–" } as const;
const runtimeOf = (heading: string): string => heading.split(" ")[0] ?? heading;
const rowOf = ({ group, name }: Result): string => `${group}${separator}${name}`;
const noteOf = (runtime: string, { name, reason = "" }: Result): string => `- ${runtime}, *${name}*: ${reason}`;

/** Reads what stands between the marks; nothing there, or nothing that can be read, is an empty matrix. */
export const readMatrix = (markdown: string): Matrix => {
  const lines = (markdown.split(begin)[1]?.split(end)[0] ?? "").split("\n");
  const table = lines.filter((line) => line.startsWith("|")).map((line) => cellsOf(line));
  const [heading = [], , ...body] = table;
  const headings = heading.slice(1);
  const rows = new Map<string, ReadonlyMap<string, string>>();
  let group = "";
  for (const [name = "", ...cells] of body) {
    const isGroup = /^\*\*(?<name>.+)\*\*$/u.exec(name);
    if (isGroup !== null) group = isGroup.groups?.["name"] ?? "";
    else
      rows.set(
        `${group}${separator}${name}`,
        new Map(headings.map((column, index) => [runtimeOf(column), cells[index] ?? ""])),
      );
  }
  return {
    columns: new Map(headings.map((column) => [runtimeOf(column), column])),
    rows,
    notes: lines.filter((line) => line.startsWith("- ")),
  };
};

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** The matrix with this runtime's column as the report has it. Its rows are the report's: cases that are gone go. */
export const mergeMatrix = (matrix: Matrix, { runtime, version, results }: Report): Matrix => ({
  columns: new Map([...matrix.columns, [runtime, `${runtime} ${version}`]]),
  rows: new Map(
    results.map((result) => [
      rowOf(result),
      new Map([...(matrix.rows.get(rowOf(result)) ?? []), [runtime, words[result.verdict]]]),
    ]),
  ),
  notes: [
    ...matrix.notes.filter((note) => !note.startsWith(`- ${runtime}, `)),
    ...results.filter(({ verdict }) => verdict === "skip").map((result) => noteOf(runtime, result)),
  ].toSorted(),
});

export const printMatrix = ({ columns, rows, notes }: Matrix): string => {
  const runtimes = [...columns.keys()].toSorted();
  const line = (name: string, cells: ReadonlyArray<string>): string => `| ${[name, ...cells].join(" | ")} |`;
  const lines = [
    line(
      "case",
      runtimes.map((runtime) => columns.get(runtime) ?? runtime),
    ),
    `|${"---|".repeat(runtimes.length + 1)}`,
  ];
  let group: string | undefined;
  for (const [row, cells] of rows) {
    const [of = "", name = ""] = row.split(separator);
    if (of !== group)
      lines.push(
        line(
          `**${of}**`,
          runtimes.map(() => ""),
        ),
      );
    group = of;
    lines.push(
      line(
        name,
        runtimes.map((runtime) => cells.get(runtime) ?? ""),
      ),
    );
  }
  const leftOut =
    notes.length === 0 ? [] : ["", "Left out, because of what the instance or the server declares:", "", ...notes];
  return [begin, "", ...lines, ...leftOut, "", end].join("\n");
};

/** Writes a report's column into a file that has the marks. Safe beside another run: they take turns. */
export const writeMatrix = (path: string, report: Report): void => {
  const lock = `${path}.lock`;
  const hold = acquire(lock);
  try {
    const markdown = readFileSync(path, "utf8");
    const [before, rest] = markdown.split(begin);
    const after = rest?.split(end)[1];
    if (before === undefined || after === undefined) throw new Error(`${path} has no place for the matrix`);
    writeFileSync(path, `${before}${printMatrix(mergeMatrix(readMatrix(markdown), report))}${after}`);
  } finally {
    closeSync(hold);
    rmSync(lock);
  }
};

/** The section is a few milliseconds of synchronous work, so it waits without yielding. */
const acquire = (lock: string): number => {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return openSync(lock, "wx");
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${lock} is left over: remove it`, { cause: error });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
};
