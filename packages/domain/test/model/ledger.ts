/**
 * A second, naive account of a thread: it remembers everything that ever was, by key, and knows each machine as a table
 * of allowed steps. It shares no code with the decider, and complains about an event that no machine allows.
 */
import type { DomainEvent } from "@tributary/contracts";

type Kind = "session" | "turn" | "input" | "request" | "text" | "activity" | "task" | "plan";

export interface Entry {
  readonly kind: Kind;
  readonly id: string;
  state: string;
  generation?: number | undefined;
  turnId?: string | undefined;
  mode?: string | undefined;
  /** Of a text: every code unit that was said. */
  text?: string | undefined;
  hash?: string | undefined;
  path?: string | undefined;
  background?: boolean | undefined;
  /** Of a request: answers that may have reached the runtime. */
  answers?: number | undefined;
}

/** event type → [kind, allowed states before ("-": not there), state after ("=": the same)]. */
const steps: Readonly<Record<string, readonly [Kind, ReadonlyArray<string>, string]>> = {
  "session.opening": ["session", ["-"], "opening"],
  "session.started": ["session", ["opening"], "ready"],
  "session.configured": ["session", ["opening", "ready"], "="],
  "session.exited": ["session", ["opening", "ready"], "exited"],
  "session.released": ["session", ["opening", "ready"], "released"],
  "session.failed": ["session", ["opening"], "failed"],
  "turn.started": ["turn", ["-"], "running"],
  "turn.ended": ["turn", ["running"], "over"],
  "input.queued": ["input", ["-", "failed", "unconfirmed"], "queued"],
  "input.edited": ["input", ["queued"], "="],
  "input.handed_over": ["input", ["queued"], "handed_over"],
  "input.started": ["input", ["handed_over", "unconfirmed"], "started"],
  "input.done": ["input", ["started"], "done"],
  "input.withdrawn": ["input", ["queued", "handed_over", "unconfirmed"], "withdrawn"],
  "input.failed": ["input", ["queued", "handed_over", "unconfirmed"], "failed"],
  "input.unconfirmed": ["input", ["handed_over"], "unconfirmed"],
  "input.withdraw_requested": ["input", ["handed_over"], "="],
  "input.withdraw_failed": ["input", ["handed_over"], "="],
  "input.discarded": ["input", ["failed", "unconfirmed"], "discarded"],
  "request.opened": ["request", ["-"], "pending"],
  "request.answering": ["request", ["pending"], "answering"],
  "request.delivery_failed": ["request", ["answering"], "pending"],
  "request.answered": ["request", ["pending", "answering"], "answered"],
  "request.withdrawn": ["request", ["pending", "answering"], "withdrawn"],
  "request.expired": ["request", ["pending", "answering"], "expired"],
  "message.appended": ["text", ["-", "open", "closed"], "="],
  "message.completed": ["text", ["open"], "closed"],
  "message.replaced": ["text", ["open", "closed"], "="],
  "message.retracted": ["text", ["open", "closed"], "retracted"],
  "reasoning.appended": ["text", ["-", "open", "closed"], "="],
  "reasoning.completed": ["text", ["open"], "closed"],
  "activity.started": ["activity", ["-"], "open"],
  "activity.updated": ["activity", ["open"], "="],
  "activity.ended": ["activity", ["open"], "ended"],
  "task.started": ["task", ["-"], "open"],
  "task.updated": ["task", ["open"], "="],
  "task.ended": ["task", ["open"], "ended"],
  "plan.proposed": ["plan", ["-", "proposed", "resolved"], "proposed"],
  "plan.resolved": ["plan", ["proposed"], "resolved"],
};

const idFields: { readonly [K in Kind]: ReadonlyArray<string> } = {
  session: ["generation"],
  turn: ["turnId"],
  input: ["inputId"],
  request: ["requestId"],
  text: ["messageId", "reasoningId"],
  activity: ["activityId"],
  task: ["taskId"],
  plan: ["planId"],
};

type Payload = Readonly<Record<string, unknown>>;
const string = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const path = (value: unknown): string => (Array.isArray(value) ? value.join("/") : "");

export class Ledger {
  readonly #entries = new Map<Kind, Map<string, Entry>>();
  events = 0;
  held: string | undefined;
  archived = false;
  deleted = false;
  interrupt: { turnId?: string | undefined; inputId?: string | undefined; step: string } | undefined;
  /** Inputs in line, by submission. */
  order: Array<string> = [];
  generation = 0;
  steerable = false;
  /** The runtime gives back what it has not read. */
  gives = false;
  /** The input that it was asked back for last. */
  askedBack: string | undefined;

  all(kind: Kind): ReadonlyArray<Entry> {
    return [...this.#of(kind).values()];
  }
  get(kind: Kind, id: string | number): Entry | undefined {
    return this.#of(kind).get(String(id));
  }
  in(kind: Kind, ...states: ReadonlyArray<string>): ReadonlyArray<Entry> {
    return this.all(kind).filter((entry) => states.includes(entry.state));
  }
  get session(): Entry | undefined {
    return this.get("session", this.generation);
  }
  get live(): boolean {
    return this.session?.state === "opening" || this.session?.state === "ready";
  }
  get turn(): Entry | undefined {
    return this.in("turn", "running")[0];
  }
  /** Started, with no running turn of its own. */
  unbound(input: Entry): boolean {
    return input.state === "started" && (input.turnId === undefined || input.turnId !== this.turn?.id);
  }
  get flight(): Entry | undefined {
    return this.inLineOrder().find(
      (input) => (input.state === "handed_over" && input.mode !== "steer") || this.unbound(input),
    );
  }
  inLineOrder(): ReadonlyArray<Entry> {
    return this.order.map((id) => this.get("input", id)).filter((entry) => entry !== undefined);
  }
  /** Who goes next as a prompt. */
  get next(): Entry | undefined {
    const queued = this.inLineOrder().filter((input) => input.state === "queued");
    const prompt = queued.find((input) => input.mode === "prompt");
    if (prompt !== undefined) return prompt;
    if (this.held !== undefined) return undefined;
    return queued.find((input) => input.mode !== "steer" || this.turn === undefined);
  }

  #of(kind: Kind): Map<string, Entry> {
    const known = this.#entries.get(kind) ?? new Map<string, Entry>();
    this.#entries.set(kind, known);
    return known;
  }

  /** Takes one event, or says which machine forbids it. */
  apply(event: DomainEvent): void {
    this.events += 1;
    const payload: Payload = event.payload;
    if (this.deleted && event.type !== "thread.purged") throw new Error(`${event.type} after the thread was deleted`);
    this.#thread(event.type, payload);
    const step = steps[event.type];
    if (step === undefined) return;
    const [kind, before, after] = step;
    const field = idFields[kind].find((name) => payload[name] !== undefined);
    const id = String(field === undefined ? undefined : payload[field]);
    const entry = this.get(kind, id);
    if (!before.includes(entry?.state ?? "-"))
      throw new Error(`${event.type} of ${kind} ${id}, which is ${entry?.state ?? "not there"}`);
    const state = after === "=" ? (entry?.state ?? "open") : after;
    const next: Entry = entry ?? { kind, id, state };
    next.state = state;
    this.#of(kind).set(id, next);
    this.#fields(event.type, kind, payload, next, entry === undefined);
  }

  #thread(type: string, payload: Payload): void {
    if (type === "thread.archived") this.archived = true;
    if (type === "thread.unarchived") this.archived = false;
    if (type === "thread.deleted") this.deleted = true;
    if (type === "queue.held") {
      if (this.held !== undefined) throw new Error("held twice");
      this.held = string(payload["reason"]);
    }
    if (type === "queue.resumed") {
      if (this.held === undefined) throw new Error("resumed what was not held");
      this.held = undefined;
    }
    if (type === "interrupt.requested")
      this.interrupt = { turnId: string(payload["turnId"]), inputId: string(payload["inputId"]), step: "requested" };
    if (type === "interrupt.escalated") {
      const order = ["requested", "native", "terminate", "kill"];
      const step = String(payload["step"]);
      if (this.interrupt === undefined || order.indexOf(step) <= order.indexOf(this.interrupt.step))
        throw new Error(`escalated from ${this.interrupt?.step} to ${step}`);
      this.interrupt.step = step;
    }
  }

  #fields(type: string, kind: Kind, payload: Payload, entry: Entry, isNew: boolean): void {
    const turnId = string(payload["turnId"]);
    switch (kind) {
      case "session":
        if (type === "session.opening") {
          if (entry.id !== String(this.generation + 1))
            throw new Error(`generation ${entry.id} after ${this.generation}`);
          this.generation += 1;
          this.steerable = false;
          this.gives = false;
        }
        if (entry.id !== String(this.generation)) throw new Error(`${type} of an old generation`);
        if (type === "session.started") {
          const can = payload["capabilities"] as { steer: boolean; queue: { withdraw: boolean } };
          this.steerable = can.steer;
          this.gives = can.queue.withdraw;
        }
        if (!this.live) this.interrupt = undefined;
        return;
      case "turn":
        if (type === "turn.started") this.#turnStarted(payload, entry);
        else if (type === "turn.ended" && this.interrupt?.turnId === entry.id) this.interrupt = undefined;
        return;
      case "input":
        if (this.askedBack === entry.id) this.askedBack = undefined;
        if (type === "input.withdraw_requested") this.askedBack = entry.id;
        this.#input(type, payload, entry, turnId);
        return;
      case "text":
        this.#text(type, payload, entry, isNew);
        return;
      case "request":
        if (type === "request.answering") entry.answers = (entry.answers ?? 0) + 1;
        if (type === "request.delivery_failed") entry.answers = (entry.answers ?? 0) - 1;
        if ((entry.answers ?? 0) > 1) throw new Error(`request ${entry.id} was answered twice (I7)`);
        if (!isNew) return;
        entry.hash = string(payload["subjectHash"]);
        break;
      case "task":
        if (!isNew) return;
        entry.background = payload["kind"] === "background";
        break;
      case "activity":
        if (!isNew) return;
        break;
      case "plan":
        return;
    }
    entry.turnId = turnId;
    entry.generation = number(payload["generation"]);
    entry.path = path(kind === "task" ? payload["childPath"] : payload["agentPath"]);
    this.#belongs(type, entry);
  }

  /** What begins is of the newest session, and of a turn that this session had (I6). */
  #belongs(type: string, { generation, turnId }: Entry): void {
    if (generation !== this.generation) throw new Error(`${type} of another generation (I6)`);
    if (turnId !== undefined && this.get("turn", turnId)?.generation !== generation)
      throw new Error(`${type} under a turn of another session (I6)`);
  }

  #turnStarted(payload: Payload, entry: Entry): void {
    if (this.in("turn", "running").length > 1) throw new Error("two turns run");
    entry.generation = number(payload["generation"]);
    if (entry.generation !== this.generation || !this.live) throw new Error("a turn without its session (I6)");
    const bound = payload["inputIds"];
    for (const id of Array.isArray(bound) ? bound : []) {
      const input = this.get("input", String(id));
      if (input?.state === "started") input.turnId = entry.id;
      if (this.interrupt !== undefined && this.interrupt.turnId === undefined && this.interrupt.inputId === id)
        this.interrupt.turnId = entry.id;
    }
  }

  #input(type: string, payload: Payload, entry: Entry, turnId: string | undefined): void {
    if (type === "input.queued") {
      entry.mode = string(payload["mode"]);
      entry.turnId = undefined;
      this.order = [...this.order.filter((id) => id !== entry.id), entry.id];
    }
    if (type === "input.handed_over") {
      entry.mode = string(payload["mode"]);
      entry.generation = number(payload["generation"]);
      if (entry.generation !== this.generation) throw new Error("handed over to another generation");
    }
    if (type === "input.started") entry.turnId = turnId ?? entry.turnId;
    const stays = ["queued", "handed_over", "started"].includes(entry.state);
    if (!stays && this.interrupt?.inputId === entry.id && this.interrupt.turnId === undefined)
      this.interrupt = undefined;
  }

  #text(type: string, payload: Payload, entry: Entry, isNew: boolean): void {
    const piece = string(payload["text"]) ?? "";
    if (type.endsWith(".appended")) {
      const start = payload["start"] as { turnId?: string; generation: number } | undefined;
      if (isNew !== (start !== undefined)) throw new Error(`text ${entry.id} begins once`);
      if (payload["offset"] !== (entry.text ?? "").length) throw new Error(`text ${entry.id} at a wrong offset (I4)`);
      entry.text = (entry.text ?? "") + piece;
      if (start === undefined) return;
      entry.turnId = start.turnId;
      entry.generation = start.generation;
      this.#belongs(type, entry);
    }
    if (type === "message.replaced") entry.text = piece;
    if (type.endsWith(".completed") && payload["length"] !== (entry.text ?? "").length)
      throw new Error(`text ${entry.id} ends with a wrong length`);
  }
}
