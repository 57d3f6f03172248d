/**
 * A thread without a store: the real deciders and evolvers over plain values, a journal that is a list. What is pure in
 * ingestion is tested against it, thousands of runs a second; the service is tested against the real store.
 */
import type { DomainEvent, InternalCommand, Refusal, RuntimeEvent } from "@tributary/contracts";
import { closedBy, decideInternal, evolveThread } from "@tributary/domain";
import type { Closed, Lookups, ThreadState } from "@tributary/domain";
import type { Checkpoint, JournalRecord } from "@tributary/store";
import { totalEvents } from "../src/accounts.ts";
import { interpretation, runInStep, runQuietly } from "../src/interpret/batch.ts";
import type { Holder, Resume, Surroundings } from "../src/interpret/batch.ts";
import { flushDue, nextDeadline } from "../src/interpret/deadlines.ts";
import { flushPending } from "../src/interpret/enter.ts";
import { encodeMemory } from "../src/checkpoint/interpretive-state.ts";
import type { Interpretation, ReasoningDetail } from "../src/interpret/interpretation.ts";
import { emptyMemory } from "../src/interpret/memory.ts";
import { restoreMemory } from "../src/checkpoint/restore.ts";
import { flushEverything, settleEverything } from "../src/interpret/settlement.ts";

import { maskerOf } from "../src/text/masking.ts";
import type { Masker } from "../src/text/masking.ts";
import { maskable } from "../src/worker/secrets.ts";

export const threadId = "T";

const runRecords = (holder: Holder, around: Surroundings, records: ReadonlyArray<JournalRecord>, from: Resume): void =>
  runInStep(
    holder,
    around,
    records,
    from,
    () => false,
    () => undefined,
  );

export const capabilities = {
  steer: false,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: true },
  refusedOptions: {},
} as const;

export interface WorldOptions {
  readonly textDelivery?: "streaming" | "buffered";
  readonly reasoning?: ReasoningDetail;
  /** Values that are masked. */
  readonly secrets?: ReadonlyArray<string>;
  /** Sessions opened before the test begins: 1 by default. */
  readonly generation?: number;
}

export class World {
  state: ThreadState | undefined;
  readonly closed = new Map<string, Closed>();
  readonly log: Array<DomainEvent> = [];
  readonly refusals: Array<Refusal> = [];
  readonly journal: Array<JournalRecord> = [];
  private readonly seen = new Set<string>();
  private readonly numbered = new Map<number, number>();
  holder: Holder = { memory: emptyMemory(0) };
  checkpoint: Checkpoint | undefined;
  now = 1_000_000;
  steps = 0;
  readonly reasoning: ReasoningDetail;
  readonly masker: Masker | undefined;
  /** Texts put away as blobs, by the name that stands for them. */
  readonly blobs = new Map<string, string>();

  constructor(options: WorldOptions = {}) {
    this.reasoning = options.reasoning ?? "full";
    this.masker = maskerOf(maskable(options.secrets ?? []));
    this.apply({
      type: "thread.created",
      payload: {
        projectId: "P",
        cwd: "/p",
        instance: "stub",
        approvalMode: "ask",
        interactionMode: "default",
        textDelivery: options.textDelivery ?? "streaming",
      },
    });
    for (let generation = 1; generation <= (options.generation ?? 1); generation += 1) this.open(generation);
  }

  readonly look: Lookups = {
    // The map is keyed by kind: what is found under one has it.
    closed: (kind, id) => this.closed.get(`${kind}:${id}`) as never,
  };

  /** Puts an event into the log. */
  apply(event: DomainEvent): void {
    if (this.state !== undefined) {
      const closed = closedBy(this.state, event);
      if (closed !== undefined) this.closed.set(`${closed.kind}:${closed.id}`, closed);
    }
    this.state = evolveThread(this.state, event, threadId);
    this.log.push(event);
  }

  decide = (command: InternalCommand): ReturnType<Surroundings["decide"]> => {
    const context = { now: "2026-01-01T00:00:00.000Z", actor: { kind: "runtime", id: "stub" } } as const;
    const decision = decideInternal(this.state, command, context, this.look);
    if (!decision.ok) return decision.reason;
    for (const event of decision.events) this.apply(event);
    return undefined;
  };

  /** Decides for the engine or a client; throws when it is refused. */
  must(command: InternalCommand): void {
    const reason = this.decide(command);
    if (reason !== undefined) throw new Error(`${command.type} was refused: ${reason}`);
  }

  open(generation: number): void {
    const { session } = this.state ?? {};
    if (session !== undefined && session.state === "ready")
      this.must({
        type: "session.exit",
        generation: session.generation,
        seen: "host_restart",
        kind: "killed",
        recoverable: true,
      });
    this.must({ type: "session.open", generation });
    this.must({ type: "session.opened", generation, nativeSessionId: `n${generation}`, resumed: false, capabilities });
  }

  private around(decide: Surroundings["decide"], refuse: Surroundings["refuse"]): Surroundings {
    return {
      threadId,
      reasoning: this.reasoning,
      now: this.now,
      masker: this.masker,
      state: () => this.state,
      look: this.look,
      blobs: (text) => [...this.blobs].find(([, stored]) => stored === text)?.[0],
      decide,
      refuse,
    };
  }

  private quietly(): Surroundings {
    const never = (): never => {
      throw new Error("a quiet event wanted to enter the log");
    };
    return this.around(never, never);
  }

  private inStep(work: (around: Surroundings) => void): void {
    this.steps += 1;
    work(this.around(this.decide, (refusal) => this.refusals.push(refusal)));
    const { memory } = this.holder;
    this.checkpoint = { generation: memory.generation, seq: memory.seq, interpretive: encodeMemory(memory) };
  }

  get streaming(): boolean {
    return this.state?.textDelivery !== "buffered";
  }

  private run(records: ReadonlyArray<JournalRecord>): void {
    const from = runQuietly(this.holder, this.quietly(), records);
    if (from === undefined) return;
    this.inStep((around) => runRecords(this.holder, around, records, from));
  }

  /** Journals one record and interprets it. */
  feed(...events: ReadonlyArray<RuntimeEvent>): void {
    this.feedAs(this.state?.session?.generation ?? 1, ...events);
  }

  feedAs(generation: number, ...events: ReadonlyArray<RuntimeEvent>): void {
    const seq = (this.numbered.get(generation) ?? 0) + 1;
    this.numbered.set(generation, seq);
    const fresh = events.filter(({ id }) => {
      const key = `${generation}:${id}`;
      if (id === undefined) return true;
      if (this.seen.has(key)) return false;
      this.seen.add(key);
      return true;
    });
    const record: JournalRecord = {
      threadId,
      generation,
      seq,
      kind: "frame",
      dir: "in",
      nativeKind: "test",
      frame: "{}",
      // As the journal gives it back.
      events: JSON.parse(JSON.stringify(fresh)) as ReadonlyArray<RuntimeEvent>,
      at: this.now,
    };
    this.journal.push(record);
    this.run([record]);
  }

  /** Hands everything in the journal over once more. */
  again(): void {
    this.inStep((around) => runRecords(this.holder, around, this.journal, { record: 0, event: 0 }));
  }

  /** Anything that ingestion does in a step of its own. */
  act(work: (it: Interpretation) => void): void {
    this.inStep((around) => work(interpretation(this.holder, around)));
  }

  drain(): void {
    this.act((it) => {
      flushPending(it);
      if (this.streaming) flushEverything(it);
    });
  }

  settle(): void {
    this.act(settleEverything);
  }

  /** Lets virtual time pass, deadline by deadline. */
  advance(milliseconds: number): void {
    const until = this.now + milliseconds;
    for (;;) {
      const next = nextDeadline(this.holder.memory, this.streaming);
      if (next > until) break;
      this.now = Math.max(this.now, next);
      this.act((it) => flushDue(it, this.streaming));
    }
    this.now = until;
  }

  readonly read =
    (generation: number) =>
    (after: number, limit: number): ReadonlyArray<JournalRecord> =>
      this.journal.filter((record) => record.generation === generation && record.seq > after).slice(0, limit);

  /** Forgets everything that is not in the log, the journal or the checkpoint, and brings it back. */
  crash(): void {
    const { checkpoint } = this;
    const memory =
      checkpoint === undefined
        ? emptyMemory(0)
        : restoreMemory(threadId, checkpoint, this.read(checkpoint.generation), this.now);
    this.holder = { memory };
    this.run(this.journal);
  }

  /** Texts of messages and reasoning as people see them, by id. */
  texts(): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    for (const { type, payload } of this.log) {
      if (type === "message.appended") {
        if ((texts.get(payload.messageId) ?? "").length !== payload.offset) throw new Error("offset");
        texts.set(payload.messageId, (texts.get(payload.messageId) ?? "") + payload.text);
      } else if (type === "reasoning.appended")
        texts.set(payload.reasoningId, (texts.get(payload.reasoningId) ?? "") + payload.text);
      else if (type === "message.replaced") texts.set(payload.messageId, payload.text);
      else if (type === "message.retracted") texts.delete(payload.messageId);
    }
    return texts;
  }

  /** The messages of one item, in order, as one text. */
  textOf(itemKey: string): string {
    return [...this.texts()]
      .filter(([id]) => id.startsWith(`${itemKey}#`))
      .toSorted(([one], [other]) => Number(one.slice(itemKey.length + 1)) - Number(other.slice(itemKey.length + 1)))
      .map(([, text]) => text)
      .join("");
  }

  events(type: DomainEvent["type"]): ReadonlyArray<DomainEvent> {
    return this.log.filter((event) => event.type === type);
  }

  /** Types of the log since the session was ready. */
  types(): ReadonlyArray<string> {
    const at = this.log.findLastIndex((event) => event.type === "session.started");
    return this.log.slice(at + 1).map((event) => event.type);
  }

  /** Events in the journal and in the books: equal, always (I5). */
  books(): { readonly journal: number; readonly accounted: number } {
    return {
      journal: this.journal.reduce((sum, record) => sum + record.events.length, 0),
      accounted: totalEvents(this.holder.memory.accounts),
    };
  }
}
