/** What a fault script found: figures of what was done, and every promise that was broken. */
export class Findings {
  readonly #figures: Array<readonly [what: string, value: string]> = [];
  readonly #violations: Array<string> = [];
  readonly #seed: number | undefined;

  constructor(seed?: number) {
    this.#seed = seed;
  }

  get violations(): ReadonlyArray<string> {
    return this.#violations;
  }

  /** A figure for the table at the end. */
  figure(what: string, value: number | string): void {
    this.#figures.push([what, typeof value === "number" ? value.toLocaleString("en-US") : value]);
  }

  /** A promise; told at once where it does not hold. */
  expect(holds: boolean, promise: string, detail?: unknown): void {
    if (holds) return;
    const text = detail === undefined ? promise : `${promise}: ${brief(detail)}`;
    this.#violations.push(text);
    process.stderr.write(`VIOLATION ${text}\n`);
  }

  /** Everything that was broken, as an error. */
  asError(name: string): Violated {
    return new Violated(name, this.#violations, this.#seed);
  }

  /** Prints the figures. Throws `Violated` when anything was broken. */
  finish(name: string): void {
    const width = Math.max(...this.#figures.map(([what]) => what.length));
    const lines = this.#figures.map(([what, value]) => `  ${what.padEnd(width)}  ${value}\n`);
    process.stdout.write(`${name}\n${lines.join("")}`);
    if (this.#violations.length === 0) {
      process.stdout.write(`  no violation${this.#seed === undefined ? "" : ` (seed ${this.#seed})`}\n`);
      return;
    }
    throw this.asError(name);
  }
}

/** Something that must hold did not. */
export class Violated extends Error {
  constructor(name: string, violations: ReadonlyArray<string>, seed: number | undefined) {
    const again = seed === undefined ? "" : `; repeat with --seed ${seed}`;
    super(`${name}: ${violations.length} violations${again}\n${violations.map((text) => `  ${text}\n`).join("")}`);
    this.name = "Violated";
  }
}

const brief = (detail: unknown): string => {
  const text = typeof detail === "string" ? detail : JSON.stringify(detail);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
};
