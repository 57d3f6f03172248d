/** What the runtime is told when a person has answered. */
import type { Answer } from "@tributary/contracts";
import type { NativeObject } from "../native.ts";
import type { Asked } from "./state.ts";

const inWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
};

const approval = ({ choices, input }: Asked, answer: Answer): NativeObject | undefined => {
  if (!("optionId" in answer)) return undefined;
  const choice = choices.find(({ option }) => option.id === answer.optionId);
  if (choice === undefined) return undefined;
  const isAllowed = choice.response["behavior"] === "allow";
  return {
    ...choice.response,
    ...(isAllowed ? { updatedInput: input } : {}),
    // The model reads why.
    ...(!isAllowed && answer.message !== undefined && answer.message !== "" ? { message: answer.message } : {}),
  };
};

/** Keyed by the text of the question; several choices are joined by commas (vendor schema). */
const values = ({ questions, input }: Asked, answer: Answer): NativeObject => {
  if (!("answers" in answer)) return { behavior: "deny", message: answer.message ?? "The person did not answer." };
  const given = questions.flatMap(({ id, text }) =>
    Object.hasOwn(answer.answers, id) ? [[text, inWords(answer.answers[id])] as const] : [],
  );
  return { behavior: "allow", updatedInput: { ...input, answers: Object.fromEntries(given) } };
};

const elicitation = (answer: Answer): NativeObject =>
  "answers" in answer ? { action: "accept", content: answer.answers } : { action: "decline" };

/** The body of the `control_response`; undefined for an option that was not offered. */
export const responseOf = (asked: Asked, answer: Answer): NativeObject | undefined => {
  switch (asked.kind) {
    case "approval":
      return approval(asked, answer);
    case "questions":
      return values(asked, answer);
    case "elicitation":
      return elicitation(answer);
  }
};

/** Which option such a body stands for; "" for values, undefined where it is none of those offered. */
export const optionOf = (asked: Asked, response: NativeObject): string | undefined => {
  if (asked.kind !== "approval") return "";
  const updates = JSON.stringify(response["updatedPermissions"] ?? []);
  const isSame = (choice: NativeObject): boolean =>
    choice["behavior"] === response["behavior"] &&
    (choice["interrupt"] === true) === (response["interrupt"] === true) &&
    JSON.stringify(choice["updatedPermissions"] ?? []) === updates;
  return asked.choices.find((choice) => isSame(choice.response))?.option.id;
};
