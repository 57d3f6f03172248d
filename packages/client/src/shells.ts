/** Following all threads as a list shows them, and some of them whole, on one connection. */
import type { ThreadShell } from "@tributary/contracts";
import { TributaryError } from "./errors.ts";
import { liveRoute } from "./follow.ts";
import { Followed } from "./followed.ts";
import { apply, open, type Frame, type ThreadView } from "./reducer/index.ts";
import type { Retry } from "./retry.ts";
import type { Transport } from "./transport.ts";
import type { Calls } from "./types.ts";

export interface ShellsView {
  /** The most recently changed first. */
  readonly shells: ReadonlyArray<ThreadShell>;
  /** The threads that are followed whole, by id. */
  readonly threads: ReadonlyMap<string, ThreadView>;
}

export interface FollowShellsOptions {
  readonly signal?: AbortSignal;
  /** Threads whose events come on the same connection; at most 64. */
  readonly threads?: ReadonlyArray<string>;
  /** Bytes of rows of the snapshot of each of them. */
  readonly maxBytes?: number;
}

/** Shells by thread, the most recently changed last. Copied for each change: a list is some hundreds. */
type Shells = ReadonlyMap<string, ThreadShell>;

const isNotFound = (error: unknown): boolean => error instanceof TributaryError && error.code === "not_found";

/** An id in a list of ids. */
const listed = (threadId: string): string => threadId.replaceAll("%", "%25").replaceAll(",", "%2C");

export class FollowedShells extends Followed<ShellsView> {
  readonly #calls: Calls;
  readonly #transport: Transport;
  readonly #options: FollowShellsOptions;
  #cursor: string | undefined;
  /** The list was read just now. */
  #isFresh = false;
  #shells: Shells = new Map();
  #threads: ReadonlyMap<string, ThreadView> = new Map();
  /** Followed threads that were deleted: they keep their last view, and nobody is asked for them any more. */
  readonly #gone = new Set<string>();

  constructor(calls: Calls, transport: Transport, retry: Retry, options: FollowShellsOptions = {}) {
    super(retry, options.signal);
    this.#calls = calls;
    this.#transport = transport;
    this.#options = options;
  }

  #show(): void {
    this.views.set({ shells: [...this.#shells.values()].toReversed(), threads: this.#threads });
  }

  /** All shells, the most recently changed first, and the cursor of the first page. */
  async #list(signal: AbortSignal): Promise<{ found: ReadonlyArray<ThreadShell>; cursor: string | undefined }> {
    const found: Array<ThreadShell> = [];
    let cursor: string | undefined;
    let before: string | undefined;
    do {
      const page = await this.#calls.threads.list({ query: before === undefined ? {} : { before }, signal });
      cursor ??= page.cursor;
      found.push(...page.threads);
      before = page.before;
    } while (before !== undefined);
    return { found, cursor };
  }

  #named(): ReadonlyArray<string> {
    return (this.#options.threads ?? []).filter((threadId) => !this.#gone.has(threadId));
  }

  async #page(threadId: string, signal: AbortSignal): Promise<ThreadView> {
    const { maxBytes } = this.#options;
    const before = this.#threads.get(threadId);
    try {
      const query = maxBytes === undefined ? {} : { maxBytes };
      return open(await this.#calls.threads.get({ params: { threadId }, query, signal }), before);
    } catch (error) {
      if (before === undefined || !isNotFound(error)) throw error;
      this.#gone.add(threadId);
      return before;
    }
  }

  /** The list first: what changes while its pages and the threads are read comes again after its cursor. */
  async #open(signal: AbortSignal): Promise<void> {
    const { found, cursor } = await this.#list(signal);
    const views = await Promise.all(this.#named().map((threadId) => this.#page(threadId, signal)));
    this.#shells = new Map(found.toReversed().map((shell) => [shell.threadId, shell]));
    this.#threads = new Map([...this.#threads, ...views.map((view) => [view.threadId, view] as const)]);
    this.#cursor = cursor;
    this.#isFresh = true;
    this.#show();
  }

  /** What was deleted while nobody listened is only missing from the list. Gives whether a followed thread was. */
  async #look(signal: AbortSignal): Promise<boolean> {
    const { found } = await this.#list(signal);
    const ids = new Set(found.map(({ threadId }) => threadId));
    this.#shells = new Map([...this.#shells].filter(([threadId]) => ids.has(threadId)));
    const gone = this.#named().filter((threadId) => !ids.has(threadId));
    for (const threadId of gone) this.#gone.add(threadId);
    return gone.length > 0;
  }

  #live(signal: AbortSignal): AsyncIterable<ReadonlyArray<Frame>> {
    const threads = this.#named().map(listed).join(",");
    return this.#transport.stream({
      name: "events.liveMany",
      route: liveRoute("liveMany"),
      query: { after: this.#cursor, threads: threads === "" ? undefined : threads },
      signal,
    });
  }

  /** The stream tells what changed. */
  async *#stream(signal: AbortSignal): AsyncGenerator<ReadonlyArray<Frame>, void> {
    if (!this.#isFresh) await this.#look(signal);
    this.#isFresh = false;
    try {
      yield* this.#live(signal);
    } catch (error) {
      // A followed thread that was deleted just now must not take the others along.
      if (!isNotFound(error) || !(await this.#look(signal))) throw error;
      yield* this.#live(signal);
    }
  }

  #frames(frames: ReadonlyArray<Frame>): void {
    const shells = new Map(this.#shells);
    const gone = new Set<string>();
    for (const { event, data, id } of frames) {
      if (id !== undefined) this.#cursor = id;
      if (event === "shell") {
        shells.delete(data.threadId);
        shells.set(data.threadId, data);
      } else if (event === "event" && (data.type === "thread.deleted" || data.type === "thread.purged"))
        gone.add(data.streamId);
    }
    for (const threadId of gone) shells.delete(threadId);
    this.#shells = shells;
    this.#threads = new Map([...this.#threads].map(([threadId, view]) => [threadId, apply(view, frames)]));
    this.#show();
  }

  protected readonly following = {
    open: async (signal: AbortSignal, again: boolean): Promise<void> => {
      if (again || this.#cursor === undefined) await this.#open(signal);
    },
    stream: (signal: AbortSignal) => this.#stream(signal),
    frames: (frames: ReadonlyArray<Frame>): void => this.#frames(frames),
  };

  protected show(): void {
    if (this.view !== undefined) this.#show();
  }
}
