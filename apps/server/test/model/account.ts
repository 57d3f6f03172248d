/**
 * A small account of one thread, kept from the log alone and from a table of what each thing may do next. It shares no
 * code with the product, and complains about whatever the table does not allow.
 */
import type { LogEvent } from "@tributary/store";

type Kind = "session" | "turn" | "input" | "request" | "text" | "activity" | "task";

export interface Thing {
  state: string;
  turnId?: string;
  mode?: string;
  text?: string;
  /** Of an input: how often it was queued, and handed over. Of a request: how often its answer set out, and came back. */
  out: number;
  back: number;
  answer?: unknown;
}

/** type → kind, where its id is, states that it may come in ("-": it is not there yet), the state after ("=": as before). */
const rules: Readonly<Record<string, readonly [Kind, string, string, string]>> = {
  "session.opening": ["session", "generation", "-", "opening"],
  "session.started": ["session", "generation", "opening", "ready"],
  "session.exited": ["session", "generation", "opening ready", "over"],
  "session.released": ["session", "generation", "opening ready", "over"],
  "session.failed": ["session", "generation", "opening", "over"],
  "turn.started": ["turn", "turnId", "-", "running"],
  "turn.ended": ["turn", "turnId", "running", "over"],
  "input.queued": ["input", "inputId", "- failed unconfirmed", "queued"],
  "input.edited": ["input", "inputId", "queued", "="],
  "input.handed_over": ["input", "inputId", "queued", "handed_over"],
  "input.started": ["input", "inputId", "handed_over unconfirmed", "started"],
  "input.done": ["input", "inputId", "started", "done"],
  "input.withdrawn": ["input", "inputId", "queued handed_over unconfirmed", "withdrawn"],
  "input.failed": ["input", "inputId", "queued handed_over unconfirmed", "failed"],
  "input.unconfirmed": ["input", "inputId", "handed_over", "unconfirmed"],
  "input.withdraw_requested": ["input", "inputId", "handed_over", "="],
  "input.withdraw_failed": ["input", "inputId", "handed_over", "="],
  "input.discarded": ["input", "inputId", "failed unconfirmed", "discarded"],
  "request.opened": ["request", "requestId", "-", "pending"],
  "request.answering": ["request", "requestId", "pending", "answering"],
  "request.delivery_failed": ["request", "requestId", "answering", "pending"],
  "request.answered": ["request", "requestId", "pending answering", "answered"],
  "request.withdrawn": ["request", "requestId", "pending answering", "gone"],
  "request.expired": ["request", "requestId", "pending answering", "gone"],
  "message.appended": ["text", "messageId", "- open closed", "="],
  "message.completed": ["text", "messageId", "open", "closed"],
  "message.retracted": ["text", "messageId", "open closed", "retracted"],
  "reasoning.appended": ["text", "reasoningId", "- open closed", "="],
  "reasoning.completed": ["text", "reasoningId", "open", "closed"],
  "activity.started": ["activity", "activityId", "-", "open"],
  "activity.updated": ["activity", "activityId", "open", "="],
  "activity.ended": ["activity", "activityId", "open", "ended"],
  "task.started": ["task", "taskId", "-", "open"],
  "task.updated": ["task", "taskId", "open", "="],
  "task.ended": ["task", "taskId", "open", "ended"],
};

const live = ["opening", "ready"];
const open = ["running", "open", "pending", "answering"];

export class Account {
  readonly #things = new Map<Kind, Map<string, Thing>>();
  created = false;
  archived = false;
  deleted = false;
  generation = 0;

  get(kind: Kind, id: string): Thing | undefined {
    return this.#things.get(kind)?.get(id);
  }

  names(kind: Kind, ...states: ReadonlyArray<string>): ReadonlyArray<string> {
    return [...(this.#things.get(kind) ?? [])].filter(([, { state }]) => states.includes(state)).map(([id]) => id);
  }

  get isLive(): boolean {
    return this.names("session", ...live).length > 0;
  }

  get activeTurn(): string | undefined {
    return this.names("turn", "running")[0];
  }

  /** What waits for a runtime, a person, or more text. */
  get standing(): ReadonlyArray<string> {
    const kinds = ["turn", "request", "text", "activity", "task"] as const;
    return kinds.flatMap((kind) => this.names(kind, ...open).map((id) => `${kind} ${id}`));
  }

  /** Prompts that the runtime has and whose turn has not been seen. */
  get promptsInFlight(): ReadonlyArray<string> {
    return this.names("input", "handed_over").filter((id) => this.get("input", id)?.mode === "prompt");
  }

  apply({ type, payload }: LogEvent): void {
    const said = payload as Readonly<Record<string, unknown>>;
    if (this.deleted) throw new Error(`${type} after the thread was deleted`);
    if (type === "thread.created") this.created = true;
    if (type === "thread.archived") this.archived = true;
    if (type === "thread.unarchived") this.archived = false;
    if (type === "thread.deleted") this.deleted = true;
    const rule = rules[type];
    if (rule === undefined) return;
    const [kind, field, before, after] = rule;
    const id = String(said[field]);
    const known = this.get(kind, id);
    if (!before.split(" ").includes(known?.state ?? "-"))
      throw new Error(`${type} of ${kind} ${id}, which is ${known?.state ?? "not there"}`);
    const thing = known ?? { state: "open", out: 0, back: 0 };
    this.#rules(type, id, said);
    this.#remember(type, said, thing);
    if (after !== "=") thing.state = after;
    const things = this.#things.get(kind) ?? new Map<string, Thing>();
    this.#things.set(kind, things.set(id, thing));
  }

  #rules(type: string, id: string, said: Readonly<Record<string, unknown>>): void {
    if (type === "session.opening") {
      if (this.isLive) throw new Error(`generation ${id} opens while another is there`);
      if (Number(id) !== this.generation + 1) throw new Error(`generation ${id} after ${this.generation}`);
      this.generation += 1;
    } else if (type.startsWith("session.") && Number(id) !== this.generation)
      throw new Error(`${type} of generation ${id} in generation ${this.generation} (I6)`);
    if (["session.exited", "session.released", "session.failed"].includes(type) && this.standing.length > 0)
      throw new Error(`${type} leaves ${this.standing.join(", ")} (I8)`);
    if (type === "turn.started" && this.activeTurn !== undefined)
      throw new Error(`${id} starts while ${this.activeTurn} runs`);
    if (type === "input.handed_over" && said["mode"] === "prompt") {
      const before = [...this.promptsInFlight, ...this.names("turn", "running")];
      if (before.length > 0) throw new Error(`${id} is handed over while ${before.join(", ")} is at work`);
    }
  }

  #remember(type: string, said: Readonly<Record<string, unknown>>, thing: Thing): void {
    if (typeof said["turnId"] === "string") thing.turnId = said["turnId"];
    if (type === "input.queued" || type === "input.edited") thing.text = String(said["text"]);
    if (type === "input.queued") thing.back += 1;
    if (type === "input.handed_over") {
      thing.out += 1;
      thing.mode = String(said["mode"]);
      if (thing.out > thing.back) throw new Error("an input is handed over more often than it was given");
    }
    if (type === "request.answering") {
      thing.out += 1;
      thing.answer = said["answer"];
    }
    if (type === "request.delivery_failed") thing.back += 1;
    if (type.startsWith("request.") && thing.out > thing.back + 1) throw new Error("a request is answered twice (I7)");
  }
}
