/** Whether an answer fits its request, and what of it may be kept. */
import type { Answer, Question } from "@tributary/contracts";
import { mask } from "../mask.ts";
import type { RequestState } from "../state.ts";
import { formFields, formProblem, isSecretField } from "./form.ts";

type Answers = Readonly<Record<string, unknown>>;

const list = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "));

const optionProblem = ({ options = [] }: RequestState, optionId: string): string | undefined =>
  options.some(({ id }) => id === optionId)
    ? undefined
    : `Option ${optionId} is not offered; offered: ${list(options.map(({ id }) => id))}`;

const isText = (value: unknown): value is string => typeof value === "string";

/** An answer's values: one text, or a list of texts. Undefined: neither. */
const valuesOf = (value: unknown): ReadonlyArray<string> | undefined => {
  if (isText(value)) return [value];
  return Array.isArray(value) && value.every(isText) ? value : undefined;
};

const questionProblem = (question: Question, value: unknown): string | undefined => {
  const { id, options, multiple, freeText } = question;
  if (value === undefined) return `Question ${id} is not answered`;
  const values = valuesOf(value);
  if (values === undefined) return `The answer to ${id} must be a text${multiple ? " or a list of texts" : ""}`;
  if (!multiple && values.length !== 1) return `Question ${id} takes one answer, not ${values.length}`;
  const labels = options.map(({ label }) => label);
  // Without options there is only free text, whatever the runtime said about it.
  const foreign = freeText || labels.length === 0 ? undefined : values.find((text) => !labels.includes(text));
  return foreign === undefined ? undefined : `"${foreign}" is not offered for ${id}; offered: ${list(labels)}`;
};

const unknownId = (known: ReadonlyArray<string>, answers: Answers): string | undefined => {
  const unknown = Object.keys(answers).find((id) => !known.includes(id));
  return unknown === undefined ? undefined : `${unknown} was not asked; asked: ${list(known)}`;
};

const answersProblem = (request: RequestState, answers: Answers): string | undefined => {
  if (request.kind === "approval")
    return `An approval is answered with an option; offered: ${list((request.options ?? []).map(({ id }) => id))}`;
  if (request.questions !== undefined) {
    const own = (id: string): unknown => (Object.hasOwn(answers, id) ? answers[id] : undefined);
    const ids = request.questions.map(({ id }) => id);
    return (
      unknownId(ids, answers) ??
      request.questions
        .map((question) => questionProblem(question, own(question.id)))
        .find((problem) => problem !== undefined)
    );
  }
  if (request.form === undefined) return unknownId([], answers);
  return formProblem(request.form, answers);
};

/** Why an answer does not fit, saying what is offered; undefined when it fits. */
export const answerProblem = (request: RequestState, answer: Answer): string | undefined =>
  "optionId" in answer ? optionProblem(request, answer.optionId) : answersProblem(request, answer.answers);

/** The answer as it may be kept: secret values masked (I16). */
export const maskAnswer = (request: RequestState, answer: Answer): Answer => {
  if ("optionId" in answer) return answer;
  const secrets = new Set([
    ...(request.questions ?? []).filter(({ secret }) => secret === true).map(({ id }) => id),
    ...Object.entries(formFields(request.form))
      .filter(([, field]) => isSecretField(field))
      .map(([name]) => name),
  ]);
  return {
    answers: Object.fromEntries(
      Object.entries(answer.answers).map(([id, value]) => [id, secrets.has(id) ? mask : value]),
    ),
  };
};
