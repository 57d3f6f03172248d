/** What commands print. Text of agents is data: it may not steer the terminal. */
import { Context, Effect } from "effect";

/** Takes away what a terminal would obey: escape sequences and control characters, except line feed and tab. */
export const plainText = (text: string): string => text.replaceAll(steering, "");

/** Control sequences, strings for the terminal (titles, links), and single control characters. */
const steering =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The first line, at most `length` characters. */
export const oneLine = (text: string, length = 100): string => {
  const line = plainText(text).trim().split("\n")[0] ?? "";
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

const colour = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && process.env["NO_COLOR"] === undefined;
export const dim = (text: string): string => (colour(process.stderr) ? `\u001b[2m${text}\u001b[0m` : text);
export const bold = (text: string): string => (colour(process.stderr) ? `\u001b[1m${text}\u001b[0m` : text);

/** Where a command writes. */
export class Output extends Context.Reference<{
  readonly out: (text: string) => Effect.Effect<void>;
  readonly err: (text: string) => Effect.Effect<void>;
}>("tributary/cli/Output", {
  defaultValue: () => ({ out: (text) => write(process.stdout, text), err: (text) => write(process.stderr, text) }),
}) {}

/** Resolves when it was handed on: whoever reads slowly makes us wait. */
const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => void stream.write(text, () => resume(Effect.void)));

/** What a command is for. */
export const print = (text: string): Effect.Effect<void> =>
  text === "" ? Effect.void : Output.use(({ out }) => out(text));
/** What is said beside it. */
export const printError = (text: string): Effect.Effect<void> =>
  text === "" ? Effect.void : Output.use(({ err }) => err(text));

export const printJson = (value: unknown): Effect.Effect<void> => print(`${JSON.stringify(value)}\n`);

/** Columns as wide as their widest cell; the last one is not padded. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
};
