/** Resolves what a decider must be told: the clock, who acts, real paths, what rows hold (design section 5). */
import type { Actor, ClientCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import { Writer } from "@tributary/store";
import type { StoreError } from "@tributary/store";
import { DateTime, Effect } from "effect";
import { placeOf } from "./places.ts";
import { Facts, Places, Runtimes } from "./ports.ts";

export type Resolve = (command: ClientCommand, actor: Actor) => Effect.Effect<DecideContext, StoreError>;

/** Now, as the log writes it. */
export const instant: Effect.Effect<string> = Effect.map(DateTime.now, DateTime.formatIso);

/** The engine's resolver of contexts. */
export const makeResolve = Effect.gen(function* () {
  const places = yield* Places;
  const runtimes = yield* Runtimes;
  const facts = yield* Facts;
  const writer = yield* Writer;

  const resolve: Resolve = Effect.fnUntraced(function* (command, actor) {
    const base = { now: yield* instant, actor };
    switch (command.type) {
      case "thread.create": {
        const real = yield* places.realFolder(command.cwd);
        const place = placeOf(command.cwd, real, yield* places.roots);
        return { ...base, place, instance: yield* runtimes.describe(command.instance) };
      }
      case "thread.configure": {
        const instance = writer.state(command.threadId)?.instance;
        return instance === undefined ? base : { ...base, instance: yield* runtimes.describe(instance) };
      }
      case "project.create": {
        const real = yield* places.realFolder(command.root);
        const taken = (yield* places.roots).find(({ root }) => root === real);
        return {
          ...base,
          root: {
            path: real ?? command.root,
            exists: real !== undefined,
            ...(taken === undefined ? {} : { takenBy: taken.projectId }),
          },
        };
      }
      case "project.delete":
        return { ...base, threads: yield* facts.threadsOf(command.projectId) };
      case "input.resubmit": {
        const input = yield* facts.input(command.threadId, command.inputId);
        return input === undefined ? base : { ...base, input };
      }
      default:
        return base;
    }
  });
  return resolve;
});
