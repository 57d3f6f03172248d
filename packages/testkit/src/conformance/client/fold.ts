/**
 * A thread as its events tell it, and what they must never say: text that does not follow on what is there, an end
 * without a beginning, two ends. A violation throws with the event.
 */
import type { DomainPayloads } from "@tributary/contracts";
import type { SeenEvent } from "./events.ts";

type Start = NonNullable<DomainPayloads["message.appended"]["start"]>;

export interface FoldedText {
  readonly kind: "message" | "reasoning";
  readonly start: Start;
  text: string;
  open: boolean;
  retracted: boolean;
}

/** What begins and ends once. */
class Ledger {
  readonly #what: string;
  readonly #open = new Set<string>();
  readonly #over = new Set<string>();

  constructor(what: string) {
    this.#what = what;
  }

  begin(id: string): void {
    if (this.#open.has(id) || this.#over.has(id)) throw new Error(`the ${this.#what} ${id} begins a second time`);
    this.#open.add(id);
  }

  touch(id: string): void {
    if (!this.#open.has(id)) throw new Error(`the ${this.#what} ${id} is not open`);
  }

  end(id: string): void {
    this.touch(id);
    this.#open.delete(id);
    this.#over.add(id);
  }

  get open(): ReadonlyArray<string> {
    return [...this.#open].map((id) => `${this.#what} ${id}`);
  }

  get begun(): number {
    return this.#open.size + this.#over.size;
  }
}

export class Fold {
  readonly texts = new Map<string, FoldedText>();
  readonly turns = new Ledger("turn");
  readonly activities = new Ledger("activity");
  readonly tasks = new Ledger("task");
  readonly requests = new Ledger("request");
  readonly sessions = new Ledger("session");
  #sequence = 0;

  apply(event: SeenEvent): void {
    if (event.sequence <= this.#sequence) throw new Error(`sequence ${event.sequence} follows ${this.#sequence}`);
    this.#sequence = event.sequence;
    try {
      this.#apply(event);
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${JSON.stringify(event).slice(0, 400)}`, { cause: error });
    }
  }

  /** Everything that claims to be at work. */
  get open(): ReadonlyArray<string> {
    const texts = [...this.texts].filter(([, { open }]) => open).map(([id, { kind }]) => `${kind} ${id}`);
    const { turns, activities, tasks, requests, sessions } = this;
    return [...texts, ...[turns, activities, tasks, requests, sessions].flatMap((ledger) => ledger.open)];
  }

  /** What the agent said in a turn, all its messages in order. */
  said(turnId: string, agentPath: ReadonlyArray<string> = []): string {
    return this.#joined("message", turnId, agentPath);
  }

  reasoned(turnId: string, agentPath: ReadonlyArray<string> = []): string {
    return this.#joined("reasoning", turnId, agentPath);
  }

  #joined(kind: FoldedText["kind"], turnId: string, agentPath: ReadonlyArray<string>): string {
    return [...this.texts.values()]
      .filter((text) => text.kind === kind && !text.retracted && text.start.turnId === turnId)
      .filter(({ start }) => start.agentPath.join("\n") === agentPath.join("\n"))
      .map(({ text }) => text)
      .join("");
  }

  #apply(event: SeenEvent): void {
    switch (event.type) {
      case "session.opening":
        return this.sessions.begin(`${event.payload.generation}`);
      case "session.started":
        return this.sessions.touch(`${event.payload.generation}`);
      case "session.exited":
      case "session.released":
      case "session.failed":
        return this.sessions.end(`${event.payload.generation}`);
      case "turn.started":
        return this.turns.begin(event.payload.turnId);
      case "turn.ended":
        return this.turns.end(event.payload.turnId);
      case "activity.started":
        return this.activities.begin(event.payload.activityId);
      case "activity.updated":
        return this.activities.touch(event.payload.activityId);
      case "activity.ended":
        return this.activities.end(event.payload.activityId);
      case "task.started":
        return this.tasks.begin(event.payload.taskId);
      case "task.updated":
        return this.tasks.touch(event.payload.taskId);
      case "task.ended":
        return this.tasks.end(event.payload.taskId);
      case "request.opened":
        return this.requests.begin(event.payload.requestId);
      case "request.answering":
      case "request.delivery_failed":
        return this.requests.touch(event.payload.requestId);
      case "request.answered":
      case "request.withdrawn":
      case "request.expired":
        return this.requests.end(event.payload.requestId);
      case "message.appended":
        return this.#append("message", event.payload.messageId, event.payload);
      case "reasoning.appended":
        return this.#append("reasoning", event.payload.reasoningId, event.payload);
      case "message.completed":
        return this.#complete(event.payload.messageId, event.payload.length);
      case "reasoning.completed":
        return this.#complete(event.payload.reasoningId, event.payload.length);
      case "message.replaced":
        this.#text(event.payload.messageId).text = event.payload.text;
        return;
      case "message.retracted": {
        const text = this.#text(event.payload.messageId);
        text.retracted = true;
        text.open = false;
      }
    }
  }

  #text(id: string): FoldedText {
    const text = this.texts.get(id);
    if (text === undefined) throw new Error(`nothing is known of the text ${id}`);
    return text;
  }

  #append(
    kind: FoldedText["kind"],
    id: string,
    { offset, text, start }: { readonly offset: number; readonly text: string; readonly start?: Start },
  ): void {
    if (start !== undefined) {
      if (this.texts.has(id) || offset !== 0) throw new Error(`the text ${id} begins a second time, or not at 0`);
      this.texts.set(id, { kind, start, text, open: true, retracted: false });
      return;
    }
    const known = this.#text(id);
    if (offset !== known.text.length) throw new Error(`an append at ${offset} to a text of ${known.text.length}`);
    known.text += text;
  }

  #complete(id: string, length: number): void {
    const text = this.#text(id);
    if (!text.open) throw new Error(`the text ${id} ends a second time`);
    if (text.text.length !== length)
      throw new Error(`the text ${id} has ${text.text.length} code units, not ${length}`);
    text.open = false;
  }
}
