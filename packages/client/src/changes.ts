/** A value that changes, for any number of readers, each of which sees the newest one and skips what it was too slow for. */

export class Changing<A> {
  #value: A | undefined;
  #version = 0;
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #waiting = new Set<() => void>();
  readonly #readers: { readonly first: () => void; readonly last: () => void };
  #reading = 0;

  /** `first` runs when somebody begins to read, `last` when nobody reads any more. */
  constructor(readers: { readonly first: () => void; readonly last: () => void }) {
    this.#readers = readers;
  }

  get value(): A | undefined {
    return this.#value;
  }

  set(value: A): void {
    this.#value = value;
    this.#wake();
  }

  /** Readers fail with it. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  /** Readers end. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    this.#version += 1;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  async *read(): AsyncGenerator<A, void> {
    this.#reading += 1;
    if (this.#reading === 1) this.#readers.first();
    let seen = -1;
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#isOver) return;
        if (this.#value !== undefined && this.#version !== seen) {
          seen = this.#version;
          yield this.#value;
        } else await this.#change();
      }
    } finally {
      this.#reading -= 1;
      if (this.#reading === 0) this.#readers.last();
    }
  }
}
