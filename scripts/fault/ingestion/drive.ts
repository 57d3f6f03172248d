import type { Findings } from "../findings.ts";
import type { Random } from "../random.ts";
import { pause, type Call } from "../server.ts";
import type { Ledger } from "./ledger.ts";

/** The people: they say something in every thread and answer what agents ask. */
export class Drive {
  readonly #threads: ReadonlyArray<string>;
  readonly #random: Random;
  /** Inputs whose acceptance was told. */
  readonly #acknowledged: Array<{ readonly thread: number; readonly inputId: string }> = [];

  constructor(threads: ReadonlyArray<string>, random: Random) {
    this.#threads = threads;
    this.#random = random;
  }

  /** Gives every thread something to do, waits until so many turns run and then some, and kills. */
  async round(
    call: Call,
    name: string,
    when: { readonly turns: number; readonly pauseMs: number },
    kill: () => Promise<void>,
  ): Promise<void> {
    let isOn = true;
    const deliveries = this.#threads.map(() => this.#random.pick(["prompt", "prompt", "prompt", "auto", "queue"]));
    const submit = async (thread: number): Promise<void> => {
      const threadId = this.#threads[thread] ?? "";
      const inputId = `${threadId}-${name}`;
      const body = { inputId, text: inputId, delivery: deliveries[thread] };
      const { status } = await call(`/threads/${threadId}/inputs`, { body, key: inputId });
      if (status === 200) this.#acknowledged.push({ thread, inputId });
      if (deliveries[thread] === "queue") await call(`/threads/${threadId}/queue/resume`, { body: {} });
    };
    const answering = this.#answerAll(call, () => isOn);
    const submitted = Promise.all(this.#threads.map((_, thread) => submit(thread)));
    await this.#untilTurns(call, when.turns);
    await pause(when.pauseMs);
    await kill();
    isOn = false;
    await submitted;
    await answering;
  }

  /** I1: what was acknowledged is in the log. */
  checkAcknowledged(findings: Findings, ledgers: ReadonlyArray<Ledger>, moment: string): void {
    for (const { thread, inputId } of this.#acknowledged)
      findings.expect(ledgers[thread]?.queued.has(inputId) === true, `input ${inputId} is lost ${moment} (I1)`);
  }

  /** Gives up after a while: a kill may fall into anything. */
  async #untilTurns(call: Call, wanted: number): Promise<void> {
    const deadline = performance.now() + 20_000;
    while (performance.now() < deadline) {
      const { status, body } = await call("/threads?limit=100");
      if (status === 0) return;
      const active = body.threads.filter((thread: { activeTurnId?: string }) => thread.activeTurnId !== undefined);
      if (active.length >= wanted) return;
      await pause(50);
    }
  }

  async #answerAll(call: Call, isOn: () => boolean): Promise<void> {
    while (isOn()) {
      const { body } = await call("/requests?state=pending");
      for (const { requestId, threadId, request } of body?.requests ?? []) {
        if (!isOn()) return;
        const answer =
          request.kind === "approval"
            ? { optionId: this.#random.pick(["allow", "allow_session", "reject"]) }
            : { answers: { how: "Short" } };
        await call(`/requests/${encodeURIComponent(requestId)}/answer`, { body: { threadId, answer } });
      }
      await pause(30);
    }
  }
}
