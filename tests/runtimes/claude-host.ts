import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenOptions, RuntimeEvent, RuntimeRecord, RuntimeSession } from "../../packages/contracts/src/index.ts";
import { makeClaude } from "../../packages/providers/src/claude/index.ts";
import { findSurvivors } from "../../packages/providers/src/process/index.ts";
import { claudeEnvironment, claudeModel } from "../../packages/testkit/src/mock-model/index.ts";
import { Effect, Exit, Scope } from "effect";

type EventOf<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { readonly type: T }>;

let opened = 0;

/** The folders of one person's runtime, and the sessions that a test opened in it. */
export class ClaudeWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "tributary-claude-"));
  readonly project = join(this.folder, "project");
  readonly home = join(this.folder, "home");
  readonly adapter = makeClaude();
  readonly #path: string;
  readonly #mockUrl: string;
  readonly #sessions: Array<ClaudeSession> = [];

  constructor(path: string, mockUrl: string) {
    this.#path = path;
    this.#mockUrl = mockUrl;
    mkdirSync(this.project);
    mkdirSync(this.home);
  }

  instance(env: Readonly<Record<string, string | undefined>> = {}) {
    const all = { ...claudeEnvironment(this.#mockUrl, this.home), HOME: this.folder, ...env };
    const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    return { id: "claude", runtime: "claude", command: this.#path, home: this.home, env: Object.fromEntries(given) };
  }

  async open(options: Partial<OpenOptions> = {}): Promise<ClaudeSession> {
    const session = new ClaudeSession();
    this.#sessions.push(session);
    opened += 1;
    await session.open(this.adapter.open, {
      threadId: "thread",
      generation: 1,
      instance: this.instance(),
      cwd: this.project,
      model: claudeModel,
      approvalMode: "ask",
      interactionMode: "default",
      marker: `claude-test-${process.pid}-${opened}`,
      onSpawned: () => Effect.void,
      emit: () => Effect.void,
      ...options,
    });
    return session;
  }

  /** Ends what is left, and says which processes a test left behind before that. */
  async end(): Promise<void> {
    for (const session of this.#sessions) await session.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One session with everything that it emitted. */
export class ClaudeSession {
  readonly records: Array<RuntimeRecord> = [];
  readonly #scope = Scope.makeUnsafe();
  readonly #waiting = new Set<() => void>();
  #session: RuntimeSession | undefined;
  #marker = "";
  #inputs = 0;

  async open(open: ReturnType<typeof makeClaude>["open"], options: OpenOptions): Promise<void> {
    this.#marker = options.marker;
    const emit = (record: RuntimeRecord) =>
      Effect.sync(() => {
        this.records.push(record);
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
      });
    this.#session = await Effect.runPromise(Scope.provide(open({ ...options, emit }), this.#scope));
  }

  get session(): RuntimeSession {
    if (this.#session === undefined) throw new Error("the session is not open");
    return this.#session;
  }

  get events(): ReadonlyArray<RuntimeEvent> {
    return this.records.flatMap(({ events }) => events);
  }

  of<T extends RuntimeEvent["type"]>(type: T): ReadonlyArray<EventOf<T>> {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The first event of this kind that fits, past or coming, at or after the event number `from`. */
  async next<T extends RuntimeEvent["type"]>(
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
    from = 0,
  ): Promise<EventOf<T>> {
    for (;;) {
      const found = this.events
        .slice(from)
        .find((event): event is EventOf<T> => event.type === type && fits(event as EventOf<T>));
      if (found !== undefined) return found;
      const exit = this.of("session.exited")[0];
      if (exit !== undefined) throw new Error(`the runtime ended before ${type}: ${JSON.stringify(exit.payload)}`);
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Resolves with the last record. */
  async exited(): Promise<EventOf<"session.exited">> {
    for (;;) {
      const exit = this.of("session.exited")[0];
      if (exit !== undefined) return exit;
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  run<A, E>(effect: Effect.Effect<A, E> | undefined): Promise<A> {
    if (effect === undefined) throw new Error("the session has no such control");
    return Effect.runPromise(effect);
  }

  /** Says something; resolves when the runtime has it. */
  async say(text: string, more: { readonly inputId?: string } = {}): Promise<string> {
    this.#inputs += 1;
    const inputId = more.inputId ?? `input-${this.#inputs}`;
    await this.run(this.session.prompt({ inputId, text }));
    return inputId;
  }

  /** One turn. Every approval is answered with `option`, every question with "Blue". */
  async turn(text: string, option = "allow"): Promise<EventOf<"turn.completed">> {
    const from = this.events.length;
    await this.say(text);
    return this.until(from, option);
  }

  /** Until a turn ends, answering on the way. */
  async until(from: number, option = "allow"): Promise<EventOf<"turn.completed">> {
    let at = from;
    for (;;) {
      const end = this.next("turn.completed", undefined, from);
      const asked = this.next("request.opened", undefined, at).catch(() => end);
      const first = await Promise.race([end, asked]);
      if (first.type === "turn.completed") return first;
      at = this.events.indexOf(first) + 1;
      const { requestId = "", payload } = first;
      const answers = Object.fromEntries((payload.questions ?? []).map(({ id }) => [id, "Blue"]));
      const answer = payload.kind === "approval" ? { optionId: option } : { answers };
      await this.run(this.session.answer?.({ requestId, answer }));
    }
  }

  /** The text of the root agent as it stands: whole texts, what was retracted left out. */
  get text(): string {
    return this.messages().join("");
  }

  messages(agentPath: ReadonlyArray<string> = []): ReadonlyArray<string> {
    return this.of("item.completed")
      .filter(
        ({ payload, agentPath: path = [] }) =>
          payload.itemType === "assistant_message" && path.join() === agentPath.join(),
      )
      .map(({ payload }) => payload.text ?? "");
  }

  /** Streamed text of an item that never became whole and was not retracted. */
  get dangling(): ReadonlyArray<string> {
    const settled = new Set(
      this.events
        .filter(({ type }) => type === "item.completed" || type === "content.retracted")
        .map(({ itemId }) => itemId),
    );
    return this.of("content.delta")
      .filter(({ itemId }) => !settled.has(itemId))
      .map(({ payload }) => payload.text);
  }

  survivors() {
    return Effect.runPromise(findSurvivors({ marker: this.#marker }));
  }

  async end(): Promise<void> {
    await Effect.runPromise(Scope.close(this.#scope, Exit.void));
  }
}
