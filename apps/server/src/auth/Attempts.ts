/**
 * How often one address may be wrong. A right token passes before any of this is asked, so nobody's wrong ones lock it
 * out.
 */
import { TooManyRequests } from "@tributary/contracts/api";
import { Clock, Context, Duration, Effect, Layer } from "effect";
import { RateLimiter } from "effect/persistence";

export interface AttemptLimit {
  readonly attempts: number;
  /** Milliseconds. */
  readonly window: number;
}

const minute = 60 * 1000;

export const attemptLimits = {
  /** Wrong tokens and cookies of one address. */
  token: { attempts: 30, window: minute },
  /** Claims of a pairing, and wrong secrets, of one address. */
  claim: { attempts: 10, window: minute },
  /** All requests of one address. */
  request: { attempts: 10_000, window: 10_000 },
} as const satisfies Readonly<Record<string, AttemptLimit>>;
export type AttemptKind = keyof typeof attemptLimits;

const what: Readonly<Record<AttemptKind, string>> = {
  token: "wrong tokens",
  claim: "attempts to pair",
  request: "requests",
};

export class Attempts extends Context.Service<
  Attempts,
  {
    /** Counts one; fails when it is one too many, and says when to come back. */
    readonly count: (kind: AttemptKind, address: string) => Effect.Effect<void, TooManyRequests>;
  }
>()("tributary/server/Attempts") {
  static readonly layer: Layer.Layer<Attempts> = Layer.effect(
    Attempts,
    Effect.suspend(() => make),
  );
}

/** Addresses that are told apart. The counters begin anew behind that many, so that strangers can't fill the memory. */
const mostAddresses = 10_000;

const fresh = RateLimiter.make.pipe(Effect.provide(RateLimiter.layerStoreMemory));

/** One person has a whole /64 of IPv6 addresses. */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter((group) => group !== "").length;
  const whole = [...groups, ...Array.from({ length: Math.max(0, missing) }, () => "0"), ...(tail ?? "").split(":")];
  return `${whole.slice(0, 4).join(":")}::/64`;
};

const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock;
  let limiter = yield* fresh;
  let known = new Set<string>();

  const count = Effect.fnUntraced(function* (kind: AttemptKind, address: string) {
    const key = `${kind} ${networkOf(address)}`;
    if (known.size >= mostAddresses && !known.has(key)) {
      known = new Set();
      limiter = yield* fresh;
    }
    known.add(key);
    const { attempts, window } = attemptLimits[kind];
    yield* limiter.consume({ algorithm: "token-bucket", onExceeded: "fail", key, limit: attempts, window }).pipe(
      Effect.catchTag("RateLimiterError", ({ reason }) => {
        const wait = reason._tag === "RateLimitExceeded" ? Duration.toMillis(reason.retryAfter) : window;
        const retryAt = new Date(clock.currentTimeMillisUnsafe() + Math.max(wait, 1)).toISOString();
        return new TooManyRequests({
          detail: `Too many ${what[kind]} from here: at most ${attempts} in ${window / 1000} s. Try again after ${retryAt}.`,
          userAction: "wait",
          retryAt,
        });
      }),
    );
  });
  return Attempts.of({ count });
});
