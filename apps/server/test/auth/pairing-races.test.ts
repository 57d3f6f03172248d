/** Two that come at the same time, wherever the scheduler lets the other one go first. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, References } from "effect";
import { Audit } from "../../src/auth/Audit.ts";
import { AuthFile } from "../../src/auth/auth-file.ts";
import { Devices } from "../../src/auth/Devices.ts";
import { Pairings } from "../../src/auth/Pairings.ts";

const services = Layer.unwrap(
  Effect.gen(function* () {
    const dir = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-pairing-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
    );
    const devices = Devices.layer.pipe(Layer.provideMerge(AuthFile.layer(dir)));
    return Pairings.layer.pipe(Layer.provideMerge(devices), Layer.provideMerge(Audit.layer(dir)));
  }),
);

const claimed = Effect.gen(function* () {
  const pairings = yield* Pairings;
  const { pairing, code } = yield* pairings.start({ by: "owner", scopes: ["observe"], name: undefined });
  const { secret } = yield* pairings.claim(code, { name: "x", address: "local" });
  return { id: pairing.id, secret };
});

/** Gives the other fiber its turn after each so many steps. */
const interleaved = <A, E, R>(steps: number, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, References.MaxOpsBeforeYield, steps);

const turns = [3, 4, 5, 7, 11, 13] as const;

describe("of two at the same time", () => {
  it.live.each(turns)("one gets the token (turns of %i)", (steps) =>
    Effect.gen(function* () {
      const pairings = yield* Pairings;
      const { id, secret } = yield* claimed;
      yield* pairings.decide(id, "confirm", "owner");
      const collect = pairings.collect(id, secret, 0);
      const got = yield* interleaved(steps, Effect.all([collect, collect, collect], { concurrency: "unbounded" }));
      assert.deepStrictEqual(got.map(({ state }) => state).toSorted(), ["collected", "collected", "confirmed"]);
      assert.lengthOf((yield* Devices).all(), 1);
    }).pipe(Effect.provide(services)),
  );

  it.live.each(turns)("a refusal is never undone, whatever came before it (turns of %i)", (steps) =>
    Effect.gen(function* () {
      const pairings = yield* Pairings;
      const { id, secret } = yield* claimed;
      const decide = (decision: "confirm" | "refuse") => pairings.decide(id, decision, "owner");
      yield* interleaved(
        steps,
        Effect.all([decide("confirm"), decide("refuse")], { concurrency: "unbounded", discard: true }),
      );
      assert.strictEqual((yield* pairings.collect(id, secret, 0)).state, "refused");
      assert.lengthOf((yield* Devices).all(), 0);
    }).pipe(Effect.provide(services)),
  );
});
