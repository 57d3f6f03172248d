import type { Entry } from "./conversation.ts";

/** How a request ended; `open` while the answer is still being written. */
export type Outcome = "open" | "completed" | "error" | "cut" | "client_closed";

/** One request that the mock got and what it made of it. */
export interface JournalEntry {
  /** Counts from 1 since the start or the last reset. */
  readonly number: number;
  /** The dialect, or `none` for a path that no dialect knows. */
  readonly dialect: string;
  readonly method: string;
  readonly path: string;
  /** Header values by lower-case name; credentials masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly conversation: string;
  readonly stream: boolean;
  /** The tools on offer, as `namespace.name` where they have one. */
  readonly tools: ReadonlyArray<string>;
  /** What the request's history said, each text at most 2,000 code units. */
  readonly entries: ReadonlyArray<Entry>;
  /** The scenario's name, empty where nothing was chosen. */
  readonly scenario: string;
  readonly arg: string;
  /** Which of the scenario's replies, from 0. */
  readonly step: number;
  /** Which attempt at this very request, from 1; counted only where a scenario looks at it. */
  readonly attempt: number;
  /** What the reply holds, e.g. `text 120`, `call exec_command`, `error 429`. */
  readonly reply: ReadonlyArray<string>;
  readonly outcome: Outcome;
}

export type Predicate = (entry: JournalEntry) => boolean;

const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
]);

/** Header values as the journal keeps them: of a credential only that there was one. */
export const maskedHeaders = (headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, secretHeaders.has(name) ? "***" : String(value)] as const];
    }),
  );

interface Waiter {
  readonly predicate: Predicate;
  readonly resolve: (entry: JournalEntry) => void;
}

/** The bounded list of requests; the oldest go first. */
export class Journal {
  readonly #limit: number;
  #entries: Array<JournalEntry> = [];
  #count = 0;
  readonly #waiters = new Set<Waiter>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  entries(): ReadonlyArray<JournalEntry> {
    return [...this.#entries];
  }

  /** Adds a request; `end` says how it ended. */
  add(entry: Omit<JournalEntry, "number" | "outcome">): { entry: JournalEntry; end: (outcome: Outcome) => void } {
    this.#count += 1;
    const added: JournalEntry = { ...entry, number: this.#count, outcome: "open" };
    let current = added;
    this.#entries.push(current);
    if (this.#entries.length > this.#limit) this.#entries.shift();
    this.#tell(current);
    const end = (outcome: Outcome): void => {
      const next = { ...current, outcome };
      const index = this.#entries.indexOf(current);
      if (index >= 0) this.#entries[index] = next;
      current = next;
      this.#tell(next);
    };
    return { entry: added, end };
  }

  /** The first request, past or coming, that fits. Told again when a request ends, so a predicate may ask for its outcome. */
  wait(predicate: Predicate, signal?: AbortSignal): Promise<JournalEntry> {
    const known = this.#entries.find(predicate);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { predicate, resolve };
      this.#waiters.add(waiter);
      signal?.addEventListener("abort", () => {
        this.#waiters.delete(waiter);
        reject(new Error("The wait for a request was given up.", { cause: signal.reason }));
      });
    });
  }

  reset(): void {
    this.#entries = [];
    this.#count = 0;
  }

  #tell(entry: JournalEntry): void {
    for (const waiter of this.#waiters) {
      if (!waiter.predicate(entry)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(entry);
    }
  }
}
