/** What an app shows of a thread. Immutable; what takes work is made when it is first asked for, and then kept. */
import type { DomainPayloads, InputView, ThreadPage, ThreadShell, TimelineRow, TurnView } from "@tributary/contracts";
import { shownRows } from "./live.ts";
import { shellOf } from "./shell.ts";
import { defined, type LocalError, type State } from "./state.ts";
import { find, flat } from "./timeline.ts";

type RequestRow = Extract<TimelineRow, { readonly kind: "request" }>;

/** An input as the queue shows it. `local`: only this device knows of it, so far or for good. */
export type ShownInput = InputView & {
  readonly local?: { readonly state: "sending" } | { readonly state: "refused"; readonly error: LocalError };
};

export class ThreadView {
  /** For the reducer: its shape is not promised. */
  readonly state: State;
  #thread: ThreadShell | undefined;
  #rows: ReadonlyArray<TimelineRow> | undefined;
  #inputs: ReadonlyArray<ShownInput> | undefined;
  #requests: ReadonlyArray<RequestRow> | undefined;

  constructor(state: State) {
    this.state = state;
  }

  get threadId(): string {
    return this.state.threadId;
  }

  /** Everything up to this sequence is in the view. */
  get sequence(): number {
    return this.state.sequence;
  }

  /** Where the live stream goes on. */
  get cursor(): string | undefined {
    return this.state.cursor;
  }

  /** The thread as a list shows it; undefined while a view without a snapshot has seen no event. */
  get thread(): ThreadShell | undefined {
    this.#thread ??= shellOf(this.state);
    return this.#thread;
  }

  /**
   * Rows by position, with live text in them; those that the log does not have yet come last, with a `position` of
   * `Number.MAX_SAFE_INTEGER`. A row that did not change is the same object as before.
   */
  get rows(): ReadonlyArray<TimelineRow> {
    if (this.#rows === undefined) {
      const { changed, added } = shownRows(this.state);
      const rows = flat(this.state.timeline, changed);
      rows.push(...added);
      this.#rows = rows;
    }
    return this.#rows;
  }

  /** Turns of the loaded rows, and all later ones. */
  get turns(): ReadonlyArray<TurnView> {
    return this.state.turns;
  }

  /** Inputs of which something may still become; this device's own that are on their way, or were refused, come last. */
  get inputs(): ReadonlyArray<ShownInput> {
    this.#inputs ??= [
      ...this.state.inputs,
      ...this.state.locals.map(({ input, error }): ShownInput => ({
        ...input,
        local: error === undefined ? { state: "sending" } : { state: "refused", error },
      })),
    ];
    return this.#inputs;
  }

  /** Requests that wait for an answer. What became of others, by whom, is in their rows. */
  get requests(): ReadonlyArray<RequestRow> {
    this.#requests ??= (this.state.facts?.asks ?? [])
      .filter(({ pending }) => pending)
      .flatMap(({ id }) => {
        const row = find(this.state.timeline, "request", id);
        return row?.kind === "request" ? row : [];
      })
      .toSorted((a, b) => a.position - b.position);
    return this.#requests;
  }

  /** The root agent's steps. */
  get plan(): Omit<DomainPayloads["turn.plan_updated"], "agentPath"> | undefined {
    return this.state.plan;
  }

  /** Cursor of the page of older rows; undefined when all are loaded. */
  get before(): string | undefined {
    return this.state.before;
  }

  get deleted(): boolean {
    return this.state.deleted;
  }
}

/** What the log alone says: no live text, nothing that only this device knows. The server's page says the same. */
export const committed = ({ state }: ThreadView): ThreadPage | undefined => {
  const thread = shellOf(state);
  if (thread === undefined) return undefined;
  const { sequence, timeline, turns, inputs, plan, before } = state;
  return defined({ thread, sequence, rows: flat(timeline), turns, inputs, plan, before });
};
