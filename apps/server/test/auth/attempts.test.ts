import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { attemptLimits, Attempts } from "../../src/auth/Attempts.ts";
import type { AttemptKind } from "../../src/auth/Attempts.ts";

const counting = Effect.map(Attempts, (attempts) => {
  const one = (kind: AttemptKind, address: string) =>
    Effect.match(attempts.count(kind, address), {
      onFailure: ({ status, retryAt }) => ({ status, retryAt }),
      onSuccess: () => "passed" as const,
    });
  const many = (kind: AttemptKind, address: string, times: number) =>
    Effect.forEach(Array.from({ length: times }), () => one(kind, address));
  return { one, many };
});

describe("attempts", () => {
  it.effect.each(Object.keys(attemptLimits) as ReadonlyArray<AttemptKind>)("are counted by address: %s", (kind) =>
    Effect.gen(function* () {
      const { one, many } = yield* counting;
      const { attempts, window } = attemptLimits[kind];
      assert.isTrue((yield* many(kind, "203.0.113.7", attempts)).every((said) => said === "passed"));
      const refused = yield* one(kind, "203.0.113.7");
      // The next one comes back after its share of the window.
      const retryAt = new Date(Math.ceil(window / attempts)).toISOString();
      assert.deepStrictEqual(refused, { status: 429, retryAt });
      assert.strictEqual(yield* one(kind, "203.0.113.8"), "passed");
      assert.strictEqual(yield* one(kind, "2001:db8::7"), "passed");
      yield* TestClock.adjust(Math.ceil(window / attempts));
      assert.strictEqual(yield* one(kind, "203.0.113.7"), "passed");
      assert.notStrictEqual(yield* one(kind, "203.0.113.7"), "passed");
      yield* TestClock.adjust(window);
      assert.isTrue((yield* many(kind, "203.0.113.7", attempts)).every((said) => said === "passed"));
    }).pipe(Effect.provide(Attempts.layer)),
  );

  it.effect("of one IPv6 network are one address's, and of each kind their own", () =>
    Effect.gen(function* () {
      const { one, many } = yield* counting;
      yield* many("claim", "2001:db8:1:2::7", attemptLimits.claim.attempts);
      assert.notStrictEqual(yield* one("claim", "2001:db8:1:2:ffff::9"), "passed");
      assert.strictEqual(yield* one("claim", "2001:db8:1:3::7"), "passed");
      assert.strictEqual(yield* one("token", "2001:db8:1:2::7"), "passed");
    }).pipe(Effect.provide(Attempts.layer)),
  );

  it.effect("of very many addresses do not fill the memory", () =>
    Effect.gen(function* () {
      const { one, many } = yield* counting;
      yield* many("claim", "203.0.113.7", attemptLimits.claim.attempts);
      for (let count = 0; count < 10_000; count += 1)
        yield* one("claim", `10.${count >> 16}.${(count >> 8) & 255}.${count & 255}`);
      // All begin anew.
      assert.strictEqual(yield* one("claim", "203.0.113.7"), "passed");
    }).pipe(Effect.provide(Attempts.layer)),
  );
});
