/** The engine's way to the writer: one decision, or a few that stand together, about one thread. */
import { RuntimeCallError } from "@tributary/contracts";
import type { Failure, InternalCommand } from "@tributary/contracts";
import type { ThreadState } from "@tributary/domain";
import { Writer } from "@tributary/store";
import type { Origins, StepTx, StoreError } from "@tributary/store";
import { Effect, Schedule } from "effect";

const origins: Origins = { actor: { kind: "system", id: "engine" } };

/** Gives the commands to decide, from the state inside the transaction; none: nothing is to be done any more. */
export type Commands = (state: ThreadState, tx: StepTx) => ReadonlyArray<InternalCommand>;

/** What the store may get over by itself: somebody frees disk space, a device comes back. */
const mayPass = ({ reason }: StoreError): boolean => reason === "full" || reason === "io";

/** From 250 ms to 5 s, as long as somebody waits. */
const patience = Schedule.min([Schedule.exponential(250), Schedule.spaced(5_000)]);

export type Step = (threadId: string, commands: Commands) => Effect.Effect<boolean>;

/**
 * Makes the stepper. It resolves after COMMIT with whether the first command was accepted. A full or failing disk is
 * waited for; a store that is closed, or a fault in a decider, is logged and counts as not accepted, because nobody
 * here could do more about it and the state still says what is to be done.
 */
export const makeStep = Effect.gen(function* () {
  const writer = yield* Writer;
  const step: Step = (threadId, commands) =>
    writer
      .step(threadId, (tx) => {
        const state = tx.state();
        if (state === undefined) return false;
        const [first, ...rest] = commands(state, tx);
        if (first === undefined) return false;
        const isAccepted = tx.decide(first, origins).ok;
        for (const command of rest) tx.decide(command, origins);
        return isAccepted;
      })
      .pipe(
        // Another job of the group may have been at fault, and this one undone with it.
        Effect.retry({ while: ({ reason }) => reason === "fault", times: 1 }),
        Effect.retry({ while: mayPass, schedule: patience }),
        Effect.catch((error) =>
          error.reason === "closed"
            ? Effect.succeed(false)
            : Effect.as(Effect.logError(`A step of thread ${threadId} was not stored`, error), false),
        ),
      );
  return step;
});

/** A failure in the engine's own words. */
export const failure = (
  failureClass: Failure["class"],
  code: string,
  message: string,
  retryable: boolean,
): Failure => ({ class: failureClass, code, message, retryable });

/** The runtime has no such control. */
export const unsupported = (what: string): RuntimeCallError =>
  new RuntimeCallError({
    reason: "unsupported",
    failure: failure("validation", "unsupported", `This runtime has no way to ${what}`, false),
  });
