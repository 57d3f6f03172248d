import type { Findings } from "../findings.ts";
import { get, type Call } from "../server.ts";
import { inputOf, textsFor } from "./agents.ts";

interface Text {
  readonly item: string;
  readonly generation: number;
  readonly segment: number;
  text: string;
}

/** What the journal has of one item of a runtime. */
interface Said {
  readonly generation: number;
  text: string;
  isOver: boolean;
}

const terminal = new Set(["exited", "released", "failed"]);

/**
 * What one thread's journal and log have said so far, read on after each restart. The journal is what the runtime said;
 * the log must say the same of every generation that is over.
 */
export class Ledger {
  readonly #findings: Findings;
  readonly #threadId: string;
  #recordsAfter: string | undefined;
  #eventsAfter: string | undefined;
  readonly #said = new Map<string, Said>();
  readonly #texts = new Map<string, Text>();
  readonly #lastSeq = new Map<number, number>();
  readonly #answers = new Map<string, number>();
  readonly #queued = new Set<string>();
  readonly #turnOf = new Map<string, string>();
  #lastSequence = 0;
  records = 0;
  events = 0;
  characters = 0;

  constructor(findings: Findings, threadId: string) {
    this.#findings = findings;
    this.#threadId = threadId;
  }

  /** Inputs that the log knows. */
  get queued(): ReadonlySet<string> {
    return this.#queued;
  }

  /** Reads on, compares, and looks for what is open without a process behind it. */
  async check(call: Call, moment: string): Promise<void> {
    // The page first: what it calls over stays over, whatever goes on meanwhile.
    const page = await get(call, `/threads/${this.#threadId}`);
    this.#nothingOpen(page, moment);
    await this.#readRecords(call);
    await this.#readEvents(call);
    const { session } = page.thread;
    const over = session === undefined ? 0 : session.generation - (terminal.has(session.state) ? 0 : 1);
    this.#compare(over, moment);
    this.#compareRows(page.rows, moment);
  }

  #expect(holds: boolean, promise: string, detail?: unknown): void {
    this.#findings.expect(holds, `${this.#threadId}: ${promise}`, detail);
  }

  /** I8 */
  // oxlint-disable-next-line typescript/no-explicit-any
  #nothingOpen({ thread, turns, rows }: any, moment: string): void {
    const isOver = thread.session === undefined || terminal.has(thread.session.state);
    const active = isOver ? undefined : thread.activeTurnId;
    // oxlint-disable-next-line typescript/no-explicit-any
    const open = (row: any): boolean =>
      row.streaming === true ||
      row.status === "in_progress" ||
      row.state === "pending" ||
      row.state === "answering" ||
      row.inputState === "handed_over" ||
      row.inputState === "started";
    // oxlint-disable-next-line typescript/no-explicit-any
    const forgotten = rows.filter((row: any) => open(row) && (active === undefined || row.turnId !== active));
    // An input that a live session was just given has no turn yet.
    // oxlint-disable-next-line typescript/no-explicit-any
    const left = isOver ? forgotten : forgotten.filter((row: any) => row.inputState !== "handed_over");
    this.#expect(left.length === 0, `open ${moment} (I8)`, left);
    const running = turns.filter(
      (turn: { state: string; id: string }) => turn.state === "running" && turn.id !== active,
    );
    this.#expect(running.length === 0, `turns run ${moment} (I8)`, running);
    if (!isOver) return;
    this.#expect(thread.activeTurnId === undefined, `a turn is active ${moment} (I8)`, thread.activeTurnId);
    this.#expect(thread.pendingRequests.length === 0, `requests wait ${moment} (I8)`, thread.pendingRequests);
    this.#expect(thread.runningTasks === 0, `tasks run ${moment} (I8)`, thread.runningTasks);
  }

  async #readRecords(call: Call): Promise<void> {
    for (;;) {
      const after = this.#recordsAfter === undefined ? "" : `&after=${encodeURIComponent(this.#recordsAfter)}`;
      const page = await get(call, `/threads/${this.#threadId}/records?limit=1000${after}`);
      for (const record of page.records) this.#takeRecord(record);
      this.#recordsAfter = page.next;
      if (page.done) return;
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  #takeRecord(record: any): void {
    const { generation, seq, dir, nativeKind } = record;
    this.records += 1;
    const last = this.#lastSeq.get(generation) ?? 0;
    this.#expect(seq === last + 1, `the journal jumps from ${generation}:${last} to ${generation}:${seq}`);
    this.#lastSeq.set(generation, seq);
    if (dir === "out" && nativeKind === "answer") {
      const { requestId } = record.frame.params;
      const times = (this.#answers.get(requestId) ?? 0) + 1;
      this.#answers.set(requestId, times);
      this.#expect(times === 1, `the runtime got ${times} answers to ${requestId} (I7)`);
    }
    for (const event of record.events) {
      const item = itemOf(event);
      if (item === undefined) continue;
      const said = this.#said.get(item) ?? { generation, text: "", isOver: false };
      this.#said.set(item, said);
      if (event.type === "content.delta") {
        said.text += event.payload.text;
        this.characters += event.payload.text.length;
      } else said.isOver = true;
    }
  }

  async #readEvents(call: Call): Promise<void> {
    for (;;) {
      const after = this.#eventsAfter === undefined ? "" : `&after=${encodeURIComponent(this.#eventsAfter)}`;
      const page = await get(call, `/threads/${this.#threadId}/events?limit=1000${after}`);
      for (const event of page.events) this.#takeEvent(event);
      this.#eventsAfter = page.next;
      if (page.done) return;
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  #takeEvent({ sequence, type, payload }: any): void {
    this.events += 1;
    this.#expect(sequence > this.#lastSequence, `sequence ${sequence} comes after ${this.#lastSequence} (I3)`);
    this.#lastSequence = sequence;
    switch (type) {
      case "message.appended":
      case "reasoning.appended":
        return this.#append(payload.messageId ?? payload.reasoningId, payload);
      case "message.replaced":
      case "message.retracted": {
        const text = this.#texts.get(payload.messageId);
        if (text !== undefined) text.text = payload.text ?? "";
        return;
      }
      case "input.queued":
        if (payload.again === true) return;
        this.#expect(!this.#queued.has(payload.inputId), `input ${payload.inputId} is there twice (I2)`);
        this.#queued.add(payload.inputId);
        return;
      case "turn.started":
        for (const input of payload.inputIds) {
          const other = this.#turnOf.get(input);
          this.#expect(other === undefined, `input ${input} began ${String(other)} and ${payload.turnId} (I2)`);
          this.#turnOf.set(input, payload.turnId);
        }
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  #append(id: string, { offset, text, start }: any): void {
    const known = this.#texts.get(id);
    this.#expect((known?.text.length ?? 0) === offset, `a piece of ${id} begins at ${offset} (I4)`, known?.text.length);
    if (known !== undefined) {
      known.text += text;
      return;
    }
    this.#expect(start !== undefined, `${id} has no beginning`);
    if (start === undefined) return;
    const item = [start.turnId, start.agentPath.join("."), start.itemId].join("/");
    this.#texts.set(id, { item, generation: start.generation, segment: start.segment, text });
  }

  /** I4, of every generation up to `over`. What was compared is forgotten. */
  #compare(over: number, moment: string): void {
    const logged = new Map<string, string>();
    const inOrder = [...this.#texts.values()].toSorted((a, b) => a.segment - b.segment);
    for (const { item, text, generation } of inOrder)
      if (generation <= over) logged.set(item, (logged.get(item) ?? "") + text);
    for (const [item, { generation, text, isOver }] of this.#said) {
      if (generation > over) continue;
      const found = logged.get(item) ?? "";
      this.#expect(found === text, `${item} is not what the journal holds ${moment} (I4)`, difference(text, found));
      const whole = textsFor(inputOf(text) ?? "").find((candidate) => candidate.startsWith(text));
      this.#expect(
        inputOf(text) === undefined || whole !== undefined,
        `${item} is not what was sent (I4)`,
        text.slice(-80),
      );
      if (isOver) this.#expect(whole === text, `${item} ended before its text did`, text.slice(-80));
      this.#said.delete(item);
      logged.delete(item);
    }
    this.#expect(logged.size === 0, `the log has texts that the journal has not ${moment}`, [...logged.keys()]);
    for (const [id, { generation }] of this.#texts) if (generation <= over) this.#compared.set(id, true);
  }

  readonly #compared = new Map<string, true>();

  /** Rows show what the log says; texts of generations that are over are then let go. */
  // oxlint-disable-next-line typescript/no-explicit-any
  #compareRows(rows: ReadonlyArray<any>, moment: string): void {
    for (const row of rows) {
      if ((row.kind !== "message" && row.kind !== "reasoning") || !this.#compared.has(row.rowId)) continue;
      const logged = this.#texts.get(row.rowId)?.text;
      if (logged === undefined || row.text.length !== row.length) continue;
      this.#expect(
        row.text === logged,
        `row ${row.rowId} is not what the log says ${moment}`,
        difference(logged, row.text),
      );
    }
    for (const id of this.#compared.keys()) this.#texts.delete(id);
    this.#compared.clear();
  }
}

/** Texts of a runtime are told apart by turn, agent and item. */
// oxlint-disable-next-line typescript/no-explicit-any
const itemOf = ({ type, turnId, agentPath, itemId, payload }: any): string | undefined => {
  const isText =
    (type === "content.delta" && payload.stream !== "command_output") ||
    (type === "item.completed" && (payload.itemType === "assistant_message" || payload.itemType === "reasoning"));
  return isText ? [turnId, (agentPath ?? []).join("."), itemId].join("/") : undefined;
};

const difference = (expected: string, found: string): string => {
  let at = 0;
  while (at < expected.length && expected[at] === found[at]) at += 1;
  const near = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return `${expected.length} and ${found.length} code units, apart at ${at}: ${near(expected)} and ${near(found)}`;
};
