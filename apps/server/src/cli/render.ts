/**
 * What a thread says, as a terminal shows it: the agent's text on stdout as it comes, everything else on stderr. A fold
 * over frames; how it is written is another's business. Text is placed by its offset, so live text that enters the log
 * later is shown once (I4). Pure apart from the state it keeps.
 */
import { isDomainEventType } from "@tributary/contracts";
import type { Actor, Answer, DomainEventOf, DomainEventType } from "@tributary/contracts";
import type { LiveText, PublicEvent } from "@tributary/contracts/api";
import { oneLine, plainText } from "./output.ts";

export interface Piece {
  readonly to: "text" | "note";
  readonly text: string;
}

interface Shown {
  revision: number;
  /** UTF-16 code units shown. */
  length: number;
}

export interface Renderer {
  readonly event: (event: PublicEvent) => ReadonlyArray<Piece>;
  readonly live: (text: LiveText) => ReadonlyArray<Piece>;
}

type Handlers = { readonly [T in DomainEventType]?: (payload: DomainEventOf<T>["payload"]) => ReadonlyArray<Piece> };

const note = (text: string): ReadonlyArray<Piece> => [{ to: "note", text }];

/** The answer as it is stored: secret ones are masked. */
const answered = (answer: Answer | undefined, by: Actor | undefined): string => {
  const said =
    answer === undefined
      ? "answered"
      : "optionId" in answer
        ? answer.optionId
        : Object.values(answer.answers)
            .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
            .join(", ");
  return `${oneLine(said)}${by === undefined || by.id === "owner" ? "" : ` (by ${oneLine(by.id)})`}`;
};

/** `inputs`: shows what people said as well, for who comes later. */
export const makeRenderer = ({ inputs }: { readonly inputs: boolean }): Renderer => {
  const said = new Map<string, string>();
  const shown = new Map<string, Shown>();
  /** The message that was written last: another one begins on a new line. */
  let current: string | undefined;
  const titles = new Map<string, string>();
  const asked = new Map<string, string>();

  const place = (id: string, offset: number, text: string, revision?: number): ReadonlyArray<Piece> => {
    const at = shown.get(id) ?? { revision: revision ?? 0, length: 0 };
    shown.set(id, at);
    const again = revision !== undefined && revision > at.revision;
    if (again) {
      at.revision = revision;
      at.length = 0;
    }
    const fresh = text.slice(Math.max(0, at.length - offset));
    if (fresh === "" || offset > at.length) return [];
    at.length = offset + text.length;
    const starts = current !== id;
    current = id;
    return [
      ...(again ? note("(the agent took back what it wrote, and goes on:)") : []),
      { to: "text", text: `${starts ? "\n" : ""}${plainText(fresh)}` },
    ];
  };

  const status = (title: string, how: string): ReadonlyArray<Piece> => note(`  ${how} ${oneLine(title)}`);
  const outcomes = { completed: "✓", failed: "✗ failed:", declined: "✗ declined:", interrupted: "✗ interrupted:" };

  const handlers: Handlers = {
    "input.queued": ({ inputId, text }) => {
      if (inputs) said.set(inputId, text);
      return [];
    },
    "input.edited": ({ inputId, text }) => {
      if (inputs) said.set(inputId, text);
      return [];
    },
    "input.handed_over": ({ inputId }) => {
      const text = said.get(inputId);
      return text === undefined ? [] : note(`\n> ${plainText(text).replaceAll("\n", "\n> ")}`);
    },
    "message.appended": ({ messageId, offset, text, start }) =>
      start === undefined || start.agentPath.length === 0 || shown.has(messageId) ? place(messageId, offset, text) : [],
    "message.replaced": ({ messageId, text }) => {
      shown.delete(messageId);
      return [...note("(the agent corrected its text:)"), ...place(messageId, 0, text)];
    },
    "message.retracted": ({ messageId }) =>
      shown.delete(messageId) ? note("(the agent took back what it wrote last)") : [],
    "activity.started": ({ activityId, itemType, title }) => {
      titles.set(activityId, title ?? itemType);
      return itemType === "assistant_message" || itemType === "reasoning" || itemType === "user_message"
        ? []
        : status(title ?? itemType, "▸");
    },
    "activity.ended": ({ activityId, status: ended, exitCode }) => {
      const title = titles.get(activityId);
      titles.delete(activityId);
      if (title === undefined) return [];
      return status(exitCode === undefined || exitCode === 0 ? title : `${title} (exit ${exitCode})`, outcomes[ended]);
    },
    "request.opened": ({ requestId, title, action, questions }) => {
      asked.set(requestId, title ?? questions?.[0]?.text ?? action ?? "question");
      return [];
    },
    "request.answered": ({ requestId, answer, by }) =>
      note(`  ${oneLine(asked.get(requestId) ?? requestId)} → ${answered(answer, by)}`),
    "request.expired": ({ requestId, reason }) =>
      note(`  ${oneLine(asked.get(requestId) ?? requestId)} → not answered: ${oneLine(reason)}`),
    "task.started": ({ title, kind }) => status(title ?? kind, "▸ task"),
    "task.ended": ({ title, taskId, status: ended }) => status(title ?? taskId, `${outcomes[ended]} task`),
    "turn.plan_updated": ({ steps }) =>
      note(
        steps
          .map(
            ({ text, status: done }) =>
              `  ${done === "completed" ? "☑" : done === "in_progress" ? "▣" : "☐"} ${oneLine(text)}`,
          )
          .join("\n"),
      ),
    "plan.proposed": ({ markdown }) => note(`The agent proposes a plan:\n${plainText(markdown)}`),
    "notice.recorded": ({ level, message }) => (level === "info" ? [] : note(`  ${level}: ${oneLine(message, 300)}`)),
    "model.rerouted": ({ from, to }) => note(`  the model ${from} was replaced by ${to}`),
    "session.failed": ({ error }) => note(`The session could not be opened: ${plainText(error.message)}`),
  };

  return {
    event: ({ type, payload }) => {
      if (!isDomainEventType(type)) return [];
      const handler = handlers[type];
      // The payload is the one of the type, as the server's table of public events says.
      return handler === undefined ? [] : (handler as (payload: unknown) => ReadonlyArray<Piece>)(payload);
    },
    live: ({ rowId, offset, text, revision, stream, agentPath }) =>
      stream === "assistant_text" && agentPath.length === 0 ? place(rowId, offset, text, revision) : [],
  };
};
