/** What one command costs in a thread of many events against an empty one (I12), measured in turns in one store. */
import { noCapabilities, messageId } from "@tributary/contracts";
import { Writer, type StepTx } from "@tributary/store";
import { Effect } from "effect";
import { commandOf, context, createThread, runIn, timed, type StoreLoad, type Timing } from "./load.ts";

const runtime = { actor: { kind: "runtime", id: "stub" } } as const;

const begin = (tx: StepTx): void => {
  tx.decide({ type: "session.open", generation: 1 }, runtime);
  tx.decide(
    { type: "session.opened", generation: 1, nativeSessionId: "n", resumed: false, capabilities: noCapabilities },
    runtime,
  );
  tx.decide({ type: "turn.start", turnId: "t", generation: 1, origin: "runtime" }, runtime);
};

const text = "One piece of an answer, as it comes. ";

/** A message of three pieces and its end: four events. */
const message = (tx: StepTx, itemId: string): void => {
  const id = messageId("t", [], itemId, 0);
  const start = { turnId: "t", agentPath: [], itemId, segment: 0, generation: 1 };
  for (let piece = 0; piece < 3; piece += 1) {
    const append = { type: "message.append", messageId: id, offset: piece * text.length, text } as const;
    tx.decide(piece === 0 ? { ...append, start } : append, runtime);
  }
  tx.decide({ type: "message.complete", messageId: id }, runtime);
};

/** Fills a thread of the store with about this many events. */
export const fillThread = (threadId: string, events: number) =>
  Effect.gen(function* () {
    const writer = yield* Writer;
    yield* writer.dispatch(createThread(threadId), context);
    yield* writer.step(threadId, begin);
    const messagesAStep = 25;
    for (let step = 0; step * messagesAStep * 4 < events; step += 1) {
      yield* writer.step(threadId, (tx) => {
        for (let index = 0; index < messagesAStep; index += 1) message(tx, `item-${step}-${index}`);
      });
    }
  });

export interface Growth {
  readonly empty: Timing;
  readonly long: Timing;
  /** Median over the rounds of what a command costs in the long thread, as a multiple of the empty one. */
  readonly ratio: number;
}

export const growth = (
  load: StoreLoad & { readonly events: number; readonly commands: number; readonly rounds: number },
): Promise<Growth> =>
  runIn(
    load,
    Effect.gen(function* () {
      const writer = yield* Writer;
      yield* fillThread("long", load.events);
      yield* fillThread("empty", 0);
      const run = (threadId: string, round: number) =>
        timed(
          load.commands,
          Effect.gen(function* () {
            for (let n = 0; n < load.commands; n += 1) yield* writer.dispatch(commandOf(threadId, round, n), context);
          }),
        );
      const rounds: Array<{ readonly empty: Timing; readonly long: Timing }> = [];
      // The first round of each warms up; the sides change places.
      for (let round = 0; round <= load.rounds; round += 1) {
        const [first, second] = round % 2 === 0 ? (["empty", "long"] as const) : (["long", "empty"] as const);
        const one = yield* run(first, round);
        const two = yield* run(second, round);
        if (round > 0) rounds.push(first === "empty" ? { empty: one, long: two } : { empty: two, long: one });
      }
      const sum = (of: "empty" | "long"): Timing => ({
        units: rounds.reduce((total, round) => total + round[of].units, 0),
        seconds: rounds.reduce((total, round) => total + round[of].seconds, 0),
      });
      const ratios = rounds.map((round) => round.long.seconds / round.empty.seconds).toSorted((a, b) => a - b);
      return { empty: sum("empty"), long: sum("long"), ratio: ratios[ratios.length >> 1] ?? Number.NaN };
    }),
  );
