/** Following one thread: snapshot, then the live stream by cursor, without gap or repeat (I10). */
import type { Answer, InputView } from "@tributary/contracts";
import { randomId } from "./calls.ts";
import { TributaryError } from "./errors.ts";
import { Followed } from "./followed.ts";
import {
  acceptInput,
  addInput,
  apply,
  dropInput,
  open,
  prepend,
  refuseInput,
  type Frame,
  type PublicEvent,
  type ThreadView,
} from "./reducer/index.ts";
import type { Retry } from "./retry.ts";
import { routes } from "./routes.ts";
import type { Route, Transport } from "./transport.ts";
import type { Calls } from "./types.ts";

export interface FollowOptions {
  /** Ends the following: readers end too. */
  readonly signal?: AbortSignal;
  /** Bytes of rows of the snapshot and of each older page. Default: the server's, 128 KiB. */
  readonly maxBytes?: number;
  /** A view to go on from, instead of a snapshot. */
  readonly from?: ThreadView;
}

export interface Draft {
  readonly text: string;
  /** Client-made. Absent: one is made. */
  readonly inputId?: string;
  readonly attachments?: InputView["attachments"];
  readonly delivery?: InputView["delivery"];
}

interface Pending extends Draft {
  readonly inputId: string;
  readonly commandId: string;
}

export const liveRoute = (name: "live" | "liveMany"): Route => routes["events"]?.[name] as Route;

/**
 * A thread that is followed. Iterating gives the newest view whenever it or the connection changed; a slow reader skips
 * what came in between. The stream runs while somebody iterates.
 */
export class FollowedThread extends Followed<ThreadView> {
  readonly threadId: string;
  readonly #calls: Calls;
  readonly #transport: Transport;
  readonly #options: FollowOptions;
  readonly #drafts = new Map<string, Pending>();
  /** Events since an older page was asked for. */
  #since: Array<PublicEvent> | undefined;
  #older: Promise<boolean> | undefined;

  constructor(threadId: string, calls: Calls, transport: Transport, retry: Retry, options: FollowOptions = {}) {
    super(retry, options.signal);
    this.threadId = threadId;
    this.#calls = calls;
    this.#transport = transport;
    this.#options = options;
    if (options.from !== undefined) this.views.set(options.from);
  }

  /**
   * Says something to the thread. It is in `view.inputs` at once, marked `local`, until the server's own takes its place; a
   * refused one stays there with why, and the promise fails with the same error.
   */
  async submit(draft: Draft): Promise<{ readonly inputId: string; readonly sequence: number }> {
    const pending: Pending = { ...draft, inputId: draft.inputId ?? randomId(), commandId: randomId() };
    return await this.#send(pending);
  }

  /** Sends a refused input again, under the same key: it can't act twice. */
  async resend(inputId: string): Promise<{ readonly inputId: string; readonly sequence: number }> {
    const pending = this.#drafts.get(inputId);
    if (pending === undefined)
      throw new TributaryError({
        code: "not_found",
        detail: `No refused input ${inputId} is here; submit it anew.`,
        userAction: "none",
      });
    return await this.#send(pending);
  }

  /** Takes a refused input out of the view. */
  dismiss(inputId: string): void {
    this.#drafts.delete(inputId);
    this.#change((view) => dropInput(view, inputId));
  }

  /** Answers a request as it is shown: if it asks for something else by now, that is `request_changed`. */
  async answer(requestId: string, answer: Answer): Promise<void> {
    const row = this.view?.requests.find((request) => request.requestId === requestId);
    await this.#calls.requests.answer({
      params: { requestId },
      payload: {
        threadId: this.threadId,
        answer,
        ...(row === undefined ? {} : { subjectHash: row.subjectHash }),
      },
    });
  }

  /** Stops the turn that runs, or the prompt that waits. */
  async interrupt(): Promise<void> {
    await this.#calls.threads.interrupt({ params: { threadId: this.threadId }, payload: {} });
  }

  /** Marks rows as read, by default all that there are; other devices of the same person hear of it. */
  async markRead(upTo: number = this.view?.thread?.lastPosition ?? 0): Promise<void> {
    await this.#calls.threads.read({ params: { threadId: this.threadId }, payload: { upTo } });
    this.#change((view) => {
      const { thread } = view;
      // Reading is no event: the live stream of one thread does not tell of it.
      return thread === undefined || thread.readTo >= upTo
        ? view
        : apply(view, { event: "shell", data: { ...thread, readTo: upTo } });
    });
  }

  /** Loads the page before the oldest row. Gives whether there is more. Calls at the same time are one. */
  older(): Promise<boolean> {
    this.#older ??= this.#loadOlder().finally(() => {
      this.#older = undefined;
      this.#since = undefined;
    });
    return this.#older;
  }

  async #loadOlder(): Promise<boolean> {
    const before = this.view?.before;
    if (before === undefined) return false;
    const since: Array<PublicEvent> = [];
    this.#since = since;
    const { maxBytes } = this.#options;
    const page = await this.#calls.threads.get({
      params: { threadId: this.threadId },
      query: { before, ...(maxBytes === undefined ? {} : { maxBytes }) },
    });
    // A snapshot in between has another beginning.
    if (this.view?.before === before) this.#change((view) => prepend(view, page, since));
    return this.view?.before !== undefined;
  }

  async #send(pending: Pending): Promise<{ readonly inputId: string; readonly sequence: number }> {
    const { inputId, commandId, text, attachments, delivery } = pending;
    const said = {
      text,
      ...(attachments === undefined ? {} : { attachments }),
      ...(delivery === undefined ? {} : { delivery }),
    };
    this.#drafts.set(inputId, pending);
    this.#change((view) => addInput(view, { id: inputId, ...said }));
    try {
      const { receipt } = await this.#calls.inputs.submit({
        params: { threadId: this.threadId },
        payload: { inputId, ...said },
        commandId,
      });
      this.#drafts.delete(inputId);
      this.#change((view) => acceptInput(view, inputId, receipt.sequence));
      return { inputId, sequence: receipt.sequence };
    } catch (error) {
      const { code, detail, userAction } =
        error instanceof TributaryError
          ? error
          : { code: "failed", detail: String(error), userAction: "retry" as const };
      this.#change((view) => refuseInput(view, inputId, { code, detail, userAction }));
      throw error;
    }
  }

  #change(change: (view: ThreadView) => ThreadView): void {
    const { view } = this;
    if (view !== undefined) this.views.set(change(view));
  }

  protected readonly following = {
    open: async (signal: AbortSignal, again: boolean): Promise<void> => {
      // Somebody iterates anew, or began with a view: its cursor may still be good.
      if (!again && this.view?.cursor !== undefined) return;
      const { maxBytes } = this.#options;
      const page = await this.#calls.threads.get({
        params: { threadId: this.threadId },
        query: maxBytes === undefined ? {} : { maxBytes },
        signal,
      });
      this.views.set(open(page, this.view));
    },
    stream: (signal: AbortSignal) =>
      this.#transport.stream({
        name: "events.live",
        route: liveRoute("live"),
        params: { threadId: this.threadId },
        query: { after: this.view?.cursor },
        signal,
      }),
    frames: (frames: ReadonlyArray<Frame>): void => {
      if (this.#since !== undefined)
        for (const frame of frames) if (frame.event === "event") this.#since.push(frame.data);
      this.#change((view) => apply(view, frames));
    },
  };

  protected show(): void {
    this.#change((view) => view);
  }
}
