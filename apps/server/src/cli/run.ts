/** `tributary run`: one prompt to one agent, shown as it happens. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Effect, FiberSet } from "effect";
import { answererOf } from "./answers.ts";
import { attachFiles } from "./attachments.ts";
import type { Approve } from "./answers.ts";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { CliFailure, failure } from "./failure.ts";
import { onSignal } from "./interrupts.ts";
import { dim, oneLine, printError } from "./output.ts";
import { writeRecording } from "./recording.ts";
import type { Target } from "./root.ts";
import { watchThread } from "./watch.ts";
import type { Ending } from "./watch.ts";
import { fromInput, wordsOf } from "./words.ts";

export interface RunOptions {
  readonly target: Target;
  readonly instance: string;
  readonly prompt: string;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly approve: Approve | undefined;
  readonly record: string | undefined;
  /** Files that go along with the prompt. */
  readonly attach: ReadonlyArray<string>;
}

/** Makes the thread with its first input. A folder outside every project becomes one where its owner runs this. */
const createThread = Effect.fnUntraced(function* ({ client, access, isOwner }: Connection, options: RunOptions) {
  const cwd = resolve(options.cwd ?? process.cwd());
  const inputId = randomUUID();
  const attached = yield* attachFiles(access, options.attach);
  const create = Effect.suspend(() =>
    client.threads.create({
      headers: {},
      payload: {
        cwd,
        instance: options.instance,
        ...(options.model === undefined ? {} : { model: options.model }),
        ...(options.effort === undefined ? {} : { effort: options.effort }),
        input: { inputId, text: options.prompt, delivery: "prompt", ...attached },
      },
    }),
  );
  const register = Effect.andThen(
    client.projects.create({ headers: {}, payload: { root: cwd } }),
    printError(dim(`Registered ${cwd} as a project: agents may work in it. \`tributary projects\` lists them.\n`)),
  );
  const { threadId } = yield* create.pipe(
    Effect.catchIf(
      (error) => isOwner && error._tag === "CommandRejected" && error.code === "cwd_outside_roots",
      () => Effect.andThen(register, create),
    ),
    Effect.mapError(clientFailure(access)),
  );
  return { threadId, inputId };
});

/** Ctrl-C: stop the turn; again: let go of the agent; a third time: leave at once. */
const stopOnInterrupt = Effect.fnUntraced(function* ({ client }: Connection, threadId: string) {
  const fibers = yield* FiberSet.make<void>();
  const run = yield* FiberSet.runtime(fibers)<never>();
  const params = { threadId };
  const steps = [
    Effect.andThen(
      printError("\nStopping the agent; Ctrl-C again lets go of it.\n"),
      Effect.ignore(client.threads.interrupt({ params, headers: {}, payload: {} })),
    ),
    Effect.andThen(
      printError("\nLetting go of the agent; Ctrl-C again leaves at once.\n"),
      Effect.ignore(client.threads.release({ params, headers: {} })),
    ),
  ];
  let pressed = 0;
  const undo = onSignal(["SIGINT"], () => {
    const step = steps[pressed];
    pressed += 1;
    if (step === undefined) process.exit(130);
    run(step);
  });
  yield* Effect.addFinalizer(() => Effect.sync(undo));
});

const verdict = (ending: Ending, threadId: string): Effect.Effect<void, CliFailure> => {
  if (ending.kind === "input") return Effect.fail(failure(`The prompt did not reach the agent: ${ending.why}`));
  if (ending.kind === "shown") return Effect.void;
  if (ending.kind === "session") return Effect.fail(failure(`The agent could not be started: ${ending.why}`));
  const { state, error } = ending.turn;
  if (state === "completed") return Effect.void;
  const message =
    error === undefined ? `The turn ended ${state}.` : `The turn ended ${state}: ${oneLine(error.message, 500)}`;
  return Effect.fail(
    new CliFailure({
      message: `${message} \`tributary attach ${threadId}\` shows the thread.`,
      exitCode: state === "interrupted" ? 130 : 1,
    }),
  );
};

export const run = Effect.fn("cli.run")(function* (options: RunOptions) {
  const { target } = options;
  // Whoever says the prompt over standard input can't answer there as well.
  const atTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true && options.prompt !== fromInput;
  const answerer = yield* answererOf(options.approve, atTerminal);
  const prompt = yield* wordsOf(options.prompt, options.attach);
  const connection = yield* connect(target, "everything");
  const { access, client } = connection;
  const { threadId, inputId } = yield* createThread(connection, { ...options, prompt });
  yield* stopOnInterrupt(connection, threadId);
  const ending = yield* watchThread({ access, client, threadId, inputId, answerer, json: target.json });
  if (options.record !== undefined) yield* writeRecording(connection, threadId, options.record);
  yield* verdict(ending, threadId);
  if (target.json || process.stderr.isTTY !== true) return;
  const when = connection.via === "server" ? "" : ", once a server runs (`tributary serve`)";
  yield* printError(dim(`\n\`tributary send ${threadId} TEXT\` says more in this thread${when}.\n`));
}, Effect.scoped);
