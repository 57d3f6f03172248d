/** The entry of the command line: parses, runs, and turns whatever happens into lines and an exit code. */
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Effect, Exit, Fiber, Layer, Logger, References } from "effect";
import { CliError, CliOutput, Command, TerminalCapabilities } from "effect/cli";
import { version } from "../version.ts";
import { asFailure, CliFailure } from "./failure.ts";
import { takeSignal } from "./interrupts.ts";
import type { StopSignal } from "./interrupts.ts";
import { print } from "./output.ts";
import { tributary } from "./tree.ts";

/** Help is for who asks for it; a wrong call is told in a line or two, by `outcome`. */
const presenter = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    const { canColor } = yield* TerminalCapabilities.TerminalCapabilities;
    const formatter = CliOutput.defaultFormatter({ colors: canColor });
    if (event._tag === "Help") yield* print(`${formatter.formatHelpDoc(event.helpDoc)}\n`);
    if (event._tag === "Version") yield* print(`${formatter.formatVersion(event.name, event.version)}\n`);
  }),
});

/** Logs go to stderr: stdout is for what a command prints. */
const logging = Layer.mergeAll(
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  Layer.succeed(References.MinimumLogLevel, "Warn"),
);

const services = Layer.mergeAll(NodeServices.layer, presenter, logging);

/** How a command ended: the exit code, and what is to be said on stderr. */
export interface Outcome {
  readonly code: number;
  readonly line?: string;
}

const outcome = (exit: Exit.Exit<void, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return { code: 0 };
  const { cause } = exit;
  if (Cause.hasInterruptsOnly(cause)) return { code: 130 };
  const error = Cause.squash(cause);
  if (CliError.isCliError(error) && error._tag === "ShowHelp") {
    if (error.errors.length === 0) return { code: 0 };
    const wrong = error.errors.map(({ message }) => `tributary: ${message}`).join("\n");
    return { code: 2, line: `${wrong}\nSee \`${error.commandPath.join(" ")} --help\`.` };
  }
  if (error instanceof CliFailure || !Cause.hasDies(cause)) {
    const { message, exitCode } = asFailure(error);
    return { code: exitCode, line: `tributary: ${message}` };
  }
  return { code: 1, line: `tributary failed, which is a fault of its own:\n${Cause.pretty(cause)}` };
};

/** Runs one command. Never fails; interrupted, it ends in good order. */
export const runCommand = (args: ReadonlyArray<string>): Effect.Effect<Outcome> =>
  Command.runWith(tributary, { version })(args).pipe(Effect.provide(services), Effect.exit, Effect.map(outcome));

const signals: ReadonlyArray<StopSignal> = ["SIGINT", "SIGTERM", "SIGHUP"];
/** 128 and the signal's number, as shells say it. */
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Runs the command of this process's arguments. A signal ends it in good order, another one at once. */
export const main = (): void => {
  const fiber = Effect.runFork(runCommand(process.argv.slice(2)));
  // Effect's fibers alone do not keep the process alive.
  const alive = setInterval(() => {}, 1 << 30);
  let stoppedBy: StopSignal | undefined;
  const stop = (signal: StopSignal): void => {
    if (stoppedBy !== undefined) process.exit(codes[signal]);
    stoppedBy = signal;
    void Effect.runFork(Fiber.interrupt(fiber));
  };
  for (const signal of signals)
    process.on(signal, () => {
      if (!takeSignal(signal)) stop(signal);
    });
  // Whoever reads our output went away; there is nobody left to work for.
  process.stdout.on("error", () => stop("SIGHUP"));
  fiber.addObserver((exit) => {
    clearInterval(alive);
    const { code, line }: Outcome = Exit.isSuccess(exit) ? exit.value : { code: codes[stoppedBy ?? "SIGINT"] };
    if (line === undefined) return finish(code);
    process.stderr.write(`${line}\n`, () => finish(code));
  });
};

/** What was written must be out before the process goes; what still hangs must not keep it. */
const finish = (code: number): void => {
  process.exitCode = code;
  process.stdout.write("", () => process.exit(code));
};
