/** Commands per second and their latency, through the whole writer: receipts, deciders, log, states, projections. */
import { Writer } from "@tributary/store";
import { Effect } from "effect";
import { commandOf, context, createThread, runIn, threads, timed, type StoreLoad, type Timing } from "./load.ts";

export interface CommandTiming extends Timing {
  /** Milliseconds from dispatch to receipt, one a command. */
  readonly latencies: ReadonlyArray<number>;
}

export const storeCommands = (
  load: StoreLoad & { readonly commands: number; readonly clients: number },
): Promise<CommandTiming> =>
  runIn(
    load,
    Effect.gen(function* () {
      const writer = yield* Writer;
      for (const thread of threads) yield* writer.dispatch(createThread(thread), context);
      const latencies: Array<number> = [];
      const each = Math.ceil(load.commands / load.clients);
      const client = (index: number) =>
        Effect.gen(function* () {
          const thread = threads[index % threads.length] ?? "";
          for (let n = 0; n < each; n += 1) {
            const start = performance.now();
            const receipt = yield* writer.dispatch(commandOf(thread, index, n), context);
            latencies.push(performance.now() - start);
            if (receipt.status === "rejected") return yield* Effect.die(receipt);
          }
        });
      const clients = Array.from({ length: load.clients }, (_, index) => index);
      const timing = yield* timed(
        each * load.clients,
        Effect.forEach(clients, client, { concurrency: "unbounded", discard: true }),
      );
      return { ...timing, latencies };
    }),
  );
