/** The entry of the command line: parses, runs, and turns whatever happens into lines and an exit code. */
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Console, Effect, Exit, Fiber, Layer, Logger, References } from "effect";
import { CliError, CliOutput, Command } from "effect/cli";
import { version } from "../version.ts";
import { asFailure, CliFailure } from "./failure.ts";
import { takeInterrupt } from "./interrupts.ts";
import { tributary } from "./tree.ts";

/** A wrong call is told in a line or two, with where to read on; the whole help only to who asks for it. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
          `${event.errors.map(({ message }) => `tributary: ${message}`).join("\n")}\nSee \`${event.commandPath.join(" ")} --help\`.`,
        )
      : CliOutput.defaultPresenter.present(event),
});

/** Logs go to stderr: stdout is for what a command prints. */
const logging = Layer.mergeAll(
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  Layer.succeed(References.MinimumLogLevel, "Warn"),
);

const services = Layer.mergeAll(NodeServices.layer, presenter, logging);

const program = Command.run(tributary, { version, renderErrors: true }).pipe(Effect.provide(services));

/** What is said on stderr at the end, and the exit code. */
const outcome = (exit: Exit.Exit<void, unknown>): { readonly code: number; readonly line?: string } => {
  if (Exit.isSuccess(exit)) return { code: 0 };
  const { cause } = exit;
  if (Cause.hasInterruptsOnly(cause)) return { code: 130 };
  const error = Cause.squash(cause);
  // Told already, by the presenter.
  if (CliError.isCliError(error) && error._tag === "ShowHelp") return { code: error.errors.length === 0 ? 0 : 2 };
  if (error instanceof CliFailure || !Cause.hasDies(cause)) {
    const { message, exitCode } = asFailure(error);
    return { code: exitCode, line: `tributary: ${message}` };
  }
  return { code: 1, line: `tributary failed, which is a fault of its own:\n${Cause.pretty(cause)}` };
};

/** Runs the command of this process's arguments. SIGINT and SIGTERM end it in good order. */
export const main = (): void => {
  const fiber = Effect.runFork(program);
  // Effect's fibers alone do not keep the process alive.
  const alive = setInterval(() => {}, 1 << 30);
  const stop = () => void Effect.runFork(Fiber.interrupt(fiber));
  process.on("SIGINT", () => {
    if (!takeInterrupt()) stop();
  });
  process.on("SIGTERM", stop);
  process.on("SIGHUP", stop);
  // Whoever reads our output may go away; that is no fault of ours.
  process.stdout.on("error", stop);
  fiber.addObserver((exit) => {
    clearInterval(alive);
    const { code, line } = outcome(exit);
    if (line === undefined) return finish(code);
    process.stderr.write(`${line}\n`, () => finish(code));
  });
};

/** What was written must be out before the process goes; what still hangs must not keep it. */
const finish = (code: number): void => {
  process.exitCode = code;
  process.stdout.write("", () => process.exit(code));
};
