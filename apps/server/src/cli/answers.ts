/** Who answers an agent that asks while a command runs: the person at the terminal, or what `--approve` says. */
import type { Answer, DomainEventOf, Question } from "@tributary/contracts";
import { Effect, Redacted, Terminal } from "effect";
import { Prompt } from "effect/cli";
import { failure, usage } from "./failure.ts";
import type { CliFailure } from "./failure.ts";
import { bold, oneLine, plainText, printError } from "./output.ts";

export type Asked = DomainEventOf<"request.opened">["payload"];

/** What stands for a person who is not there. */
export const approvals = ["ask", "all", "session", "none"] as const;
export type Approve = (typeof approvals)[number];

/** Answers requests; fails where nobody can. */
export type Answerer = (asked: Asked) => Effect.Effect<Answer, CliFailure, AnswererServices>;
export type AnswererServices = Terminal.Terminal | Prompt.Environment;

const cannot = (asked: Asked): CliFailure =>
  failure(
    `“${oneLine(asked.title ?? asked.requestId)}” can't be answered here: it needs ${asked.url === undefined ? "a form" : `a browser (${asked.url})`}. Open the thread in an app.`,
  );

const optionFor = (asked: Asked, approve: Exclude<Approve, "ask">): string | undefined => {
  const options = asked.options ?? [];
  if (approve === "none")
    return (options.find(({ effect }) => effect === "reject") ?? options.find(({ effect }) => effect === "cancel"))?.id;
  const allowing = options.filter(({ effect }) => effect === "allow");
  return (allowing.find(({ scope }) => scope === (approve === "all" ? "once" : "session")) ?? allowing[0])?.id;
};

/** The first choice of each question: somebody has to say something. */
const firstChoices = (questions: ReadonlyArray<Question>): Answer => ({
  answers: Object.fromEntries(
    questions.map(({ id, options, multiple }) => {
      const first = options[0]?.label ?? "(nobody is there to answer)";
      return [id, multiple && options.length > 0 ? [first] : first];
    }),
  ),
});

/** Answers by rule, for runs without a person. */
export const byRule =
  (approve: Exclude<Approve, "ask">) =>
  (asked: Asked): Effect.Effect<Answer, CliFailure> => {
    if (asked.kind === "user_input")
      return asked.questions === undefined ? Effect.fail(cannot(asked)) : Effect.succeed(firstChoices(asked.questions));
    const optionId = optionFor(asked, approve);
    return optionId === undefined ? Effect.fail(cannot(asked)) : Effect.succeed({ optionId });
  };

const readLine = (prompt: string) =>
  Effect.andThen(
    printError(prompt),
    Terminal.Terminal.use((terminal) => terminal.readLine),
  ).pipe(Effect.mapError(() => failure("The terminal was closed while the agent waited for an answer.")));

/** Asks until one of the numbers (or, where allowed, any text) is given. */
const choose = Effect.fnUntraced(function* (labels: ReadonlyArray<string>, freeText: boolean) {
  const list = labels.map((label, index) => `  ${index + 1}) ${label}\n`).join("");
  yield* printError(list);
  const hint = labels.length === 0 ? "Answer" : `1–${labels.length}${freeText ? ", or your own words" : ""}`;
  for (;;) {
    const line = (yield* readLine(`${hint}> `)).trim();
    const chosen = labels.length === 0 ? undefined : labels[Number(line) - 1];
    if (chosen !== undefined && /^\d+$/.test(line)) return { index: Number(line) - 1, text: chosen };
    if (freeText && line !== "") return { index: undefined, text: line };
    yield* printError(`Type ${hint}.\n`);
  }
});

const subjectLines = ({ subject }: Asked): string =>
  [
    subject?.command === undefined ? undefined : `  $ ${plainText(subject.command)}`,
    subject?.cwd === undefined ? undefined : `  in ${plainText(subject.cwd)}`,
    ...(subject?.paths ?? []).map((path) => `  ${plainText(path)}`),
    ...(subject?.changes ?? []).map(({ kind, path }) => `  ${kind} ${plainText(path)}`),
    subject?.url === undefined ? undefined : `  ${plainText(subject.url)}`,
  ]
    .flatMap((line) => (line === undefined ? [] : [`${line}\n`]))
    .join("");

const askApproval = Effect.fnUntraced(function* (asked: Asked) {
  const options = asked.options ?? [];
  yield* printError(
    `\n${bold(`The agent asks: ${plainText(asked.title ?? asked.action ?? "may I?")}`)}\n${subjectLines(asked)}`,
  );
  const labels = options.map(({ label, grants }) => plainText(grants === undefined ? label : `${label} (${grants})`));
  const { index } = yield* choose(labels, false);
  const option = index === undefined ? undefined : options[index];
  return option === undefined ? yield* cannot(asked) : { optionId: option.id };
});

const askQuestion = Effect.fnUntraced(function* (question: Question) {
  const { id, text, options, freeText, multiple, secret } = question;
  yield* printError(`\n${bold(plainText(text))}\n`);
  if (secret === true) {
    const password = yield* Prompt.run(Prompt.Hidden({ message: "Answer (not shown)" })).pipe(
      Effect.mapError(() => failure("The terminal was closed while the agent waited for an answer.")),
    );
    return [id, Redacted.value(password)] as const;
  }
  const labels = options.map(({ label, description }) =>
    plainText(description === undefined ? label : `${label}: ${description}`),
  );
  const { index, text: said } = yield* choose(labels, freeText || options.length === 0);
  const value = index === undefined ? said : (options[index]?.label ?? said);
  return [id, multiple && options.length > 0 ? [value] : value] as const;
});

const askPerson = Effect.fnUntraced(function* (asked: Asked) {
  if (asked.kind === "approval") return yield* askApproval(asked);
  if (asked.questions === undefined) return yield* cannot(asked);
  const { title, questions } = asked;
  if (title !== undefined && !questions.some(({ text }) => text === title))
    yield* printError(`\n${plainText(title)}\n`);
  return { answers: Object.fromEntries(yield* Effect.forEach(questions, askQuestion)) };
});

/** Asks the person at the terminal, in place. Where somebody else is quicker, the line that asks is ended. */
export const byPerson: Answerer = (asked) => Effect.onInterrupt(askPerson(asked), () => printError("\n"));

/** Leaves the answer to others, on other devices. */
export const nobody: Answerer = () => Effect.never;

/** Whoever `--approve` names. Asking needs a terminal. */
export const answererOf = (approve: Approve | undefined, interactive: boolean): Effect.Effect<Answerer, CliFailure> => {
  if (approve !== undefined && approve !== "ask") return Effect.succeed(byRule(approve));
  if (interactive) return Effect.succeed(byPerson);
  return Effect.fail(
    usage(
      "Nobody is at a terminal to be asked: add --approve all (allow each thing once), --approve session or --approve none.",
    ),
  );
};
