interface Gate {
  released: boolean;
  held: number;
  readonly waiting: Set<() => void>;
  readonly watching: Set<() => void>;
}

/** Named latches that hold streams: once released, a gate lets everyone through until the reset. */
export class Gates {
  #gates = new Map<string, Gate>();

  /** Waits at the gate; resolves at its release, or when the signal is aborted. */
  pass(name: string, signal: AbortSignal): Promise<void> {
    const gate = this.#gate(name);
    if (gate.released || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const leave = (): void => {
        gate.held -= 1;
        gate.waiting.delete(leave);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      gate.held += 1;
      gate.waiting.add(leave);
      signal.addEventListener("abort", leave);
      for (const tell of gate.watching) tell();
      gate.watching.clear();
    });
  }

  release(name: string): void {
    const gate = this.#gate(name);
    gate.released = true;
    for (const leave of gate.waiting) leave();
  }

  /** Resolves when a stream stands at the gate. */
  held(name: string): Promise<void> {
    const gate = this.#gate(name);
    if (gate.held > 0) return Promise.resolve();
    return new Promise((resolve) => {
      gate.watching.add(resolve);
    });
  }

  /** Lets everyone through and forgets all gates. */
  reset(): void {
    for (const name of this.#gates.keys()) this.release(name);
    this.#gates = new Map();
  }

  #gate(name: string): Gate {
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    const gate: Gate = { released: false, held: 0, waiting: new Set(), watching: new Set() };
    this.#gates.set(name, gate);
    return gate;
  }
}
