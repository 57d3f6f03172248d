/**
 * Pairing: the owner's machine shows a code, another device claims it once, the owner looks who that was and confirms,
 * and only then the device collects a token. In memory: what is not over in five minutes is over.
 */
import type { AccessScope, Collected, PairingState } from "@tributary/contracts/api";
import { NotFound, TooManyRequests } from "@tributary/contracts/api";
import { Clock, Context, Deferred, Duration, Effect, Layer } from "effect";
import { Audit } from "./Audit.ts";
import type { AuthFileError } from "./auth-file.ts";
import { Devices } from "./Devices.ts";
import { hashOf, newCode, newId, newSecret, readCode } from "./secrets.ts";

/** Milliseconds from its start to its end, whatever happened meanwhile. */
export const PairingLifetime = Context.Reference<number>("tributary/server/PairingLifetime", {
  defaultValue: () => 5 * 60 * 1000,
});

export const defaultScopes: ReadonlyArray<AccessScope> = ["observe", "answer", "operate"];

/** How many may be under way, and how many that are over are remembered. */
const most = { open: 8, remembered: 64 };
/** How long `collect` may wait, in milliseconds. */
export const longestWait = 25_000;

export interface Claimed {
  readonly name: string;
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Mutable: it belongs to the service. */
interface Pairing {
  readonly id: string;
  readonly codeHash: string;
  readonly scopes: ReadonlyArray<AccessScope>;
  readonly name: string | undefined;
  readonly expiresAt: number;
  /** Done when there is nothing more to wait for. */
  readonly decided: Deferred.Deferred<void>;
  state: PairingState;
  secretHash?: string;
  claimedBy?: Claimed;
  deviceId?: string;
}
export type PairingFacts = Readonly<Pick<Pairing, "id" | "scopes" | "expiresAt" | "state" | "claimedBy" | "deviceId">>;

export class Pairings extends Context.Service<
  Pairings,
  {
    readonly start: (asked: {
      readonly by: string;
      readonly scopes: ReadonlyArray<AccessScope>;
      readonly name: string | undefined;
    }) => Effect.Effect<{ readonly pairing: PairingFacts; readonly code: string }, TooManyRequests>;
    readonly get: (id: string) => Effect.Effect<PairingFacts, NotFound>;
    /** With the code, once. */
    readonly claim: (
      code: string,
      who: { readonly name: string; readonly address: string },
    ) => Effect.Effect<{ readonly pairing: PairingFacts; readonly secret: string }, NotFound>;
    readonly decide: (id: string, decision: "confirm" | "refuse", by: string) => Effect.Effect<PairingFacts, NotFound>;
    /** With the claim's secret. The token is told once. */
    readonly collect: (
      id: string,
      secret: string,
      waitMs: number,
    ) => Effect.Effect<Collected, NotFound | AuthFileError>;
  }
>()("tributary/server/Pairings") {
  static readonly layer: Layer.Layer<Pairings, never, Audit | Devices> = Layer.effect(
    Pairings,
    Effect.suspend(() => make),
  );
}

/** A name that can't steer a terminal, nor turn round what stands beside it. */
export const tidyName = (name: string): string => {
  const tidied = name
    .normalize("NFC")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return tidied === "" ? "device" : tidied;
};

const isOpen = ({ state }: Pairing): boolean => state === "waiting" || state === "claimed" || state === "confirmed";

const notFound = (detail: string): NotFound => new NotFound({ detail, userAction: "none" });
// The same words for a code that never was, was used, or is over: nobody learns which.
const noSuchCode = notFound("No pairing waits for this code: it may be mistyped, used or over. Start one anew.");
const noSuchPairing = notFound("There is no such pairing, or it is long over: start one anew.");

const make = Effect.gen(function* () {
  const audit = yield* Audit;
  const devices = yield* Devices;
  const clock = yield* Clock.Clock;
  const lifetime = yield* PairingLifetime;
  const scope = yield* Effect.scope;
  const now = () => clock.currentTimeMillisUnsafe();
  const pairings = new Map<string, Pairing>();

  // Between two effects another fiber may run: whoever looks at a state and changes it does both in one go.
  const become = (pairing: Pairing, state: PairingState): void => {
    pairing.state = state;
    if (state === "confirmed" || !isOpen(pairing)) Deferred.doneUnsafe(pairing.decided, Effect.void);
  };

  const expire = (pairing: Pairing): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!isOpen(pairing)) return Effect.void;
      become(pairing, "expired");
      return audit.note("pairing.expired", { about: pairing.id });
    });

  /** By the clock, not by the timer alone: a machine may have slept. */
  const upToDate = (pairing: Pairing | undefined): Effect.Effect<Pairing, NotFound> => {
    if (pairing === undefined) return noSuchPairing;
    return Effect.as(pairing.expiresAt <= now() ? expire(pairing) : Effect.void, pairing);
  };
  const find = (id: string) => Effect.suspend(() => upToDate(pairings.get(id)));

  const forget = (): void => {
    for (const [id, pairing] of pairings) {
      if (pairings.size <= most.remembered) return;
      if (!isOpen(pairing)) pairings.delete(id);
    }
  };

  /** Hands the token over where that is confirmed; else says how it stands. */
  const deliver = Effect.fnUntraced(function* (pairing: Pairing): Effect.fn.Return<Collected, AuthFileError> {
    if (pairing.state !== "confirmed") {
      const { state } = pairing;
      return { state: state === "claimed" || state === "waiting" ? "waiting" : state };
    }
    // Before anything else can run: it is collected once.
    pairing.state = "collected";
    const name = pairing.name ?? pairing.claimedBy?.name ?? "device";
    const { device, token } = yield* devices
      .add({ name, scopes: pairing.scopes })
      .pipe(Effect.tapError(() => Effect.sync(() => (pairing.state = "confirmed"))));
    pairing.deviceId = device.id;
    yield* audit.note("device.added", {
      about: device.id,
      detail: `${name}: ${device.scopes.join(", ")}`,
      ...(pairing.claimedBy === undefined ? {} : { address: pairing.claimedBy.address }),
    });
    const expiresAt = new Date(device.expiresAt).toISOString();
    return { state: "confirmed", token, deviceId: device.id, name, scopes: device.scopes, expiresAt };
    // A device that goes away meanwhile is on the list, or can collect again.
  }, Effect.uninterruptible);

  return Pairings.of({
    start: Effect.fnUntraced(function* ({ by, scopes, name }) {
      const open = [...pairings.values()].filter((pairing) => isOpen(pairing) && pairing.expiresAt > now());
      if (open.length >= most.open) {
        const retryAt = new Date(Math.min(...open.map(({ expiresAt }) => expiresAt))).toISOString();
        return yield* new TooManyRequests({
          detail: `${most.open} pairings are under way: finish or refuse one, or wait until ${retryAt}.`,
          userAction: "wait",
          retryAt,
        });
      }
      const code = newCode();
      const pairing: Pairing = {
        id: newId("pairing"),
        codeHash: hashOf(readCode(code)),
        scopes: [...new Set(scopes)],
        name: name === undefined ? undefined : tidyName(name),
        expiresAt: now() + lifetime,
        decided: Deferred.makeUnsafe<void>(),
        state: "waiting",
      };
      pairings.set(pairing.id, pairing);
      forget();
      yield* Effect.forkIn(Effect.andThen(clock.sleep(Duration.millis(lifetime)), expire(pairing)), scope);
      yield* audit.note("pairing.started", { by, about: pairing.id, detail: pairing.scopes.join(", ") });
      return { pairing, code };
    }),
    get: find,
    claim: Effect.fnUntraced(function* (code, { name, address }) {
      const hash = hashOf(readCode(code));
      const found = [...pairings.values()].find(({ codeHash }) => codeHash === hash);
      if (found === undefined || found.state !== "waiting" || found.expiresAt <= now()) return yield* noSuchCode;
      const secret = newSecret();
      found.state = "claimed";
      found.secretHash = hashOf(secret);
      found.claimedBy = { name: tidyName(name), address, at: now() };
      yield* audit.note("pairing.claimed", { about: found.id, address, detail: found.claimedBy.name });
      return { pairing: found, secret };
    }),
    decide: Effect.fnUntraced(function* (id, decision, by) {
      const pairing = yield* find(id);
      if (decision === "confirm" && pairing.state === "claimed") {
        become(pairing, "confirmed");
        yield* audit.note("pairing.confirmed", { by, about: id, detail: pairing.claimedBy?.name ?? "" });
      }
      if (decision === "refuse" && isOpen(pairing)) {
        become(pairing, "refused");
        yield* audit.note("pairing.refused", { by, about: id, detail: pairing.claimedBy?.name ?? "" });
      }
      return pairing;
    }, Effect.uninterruptible),
    collect: Effect.fnUntraced(function* (id, secret, waitMs) {
      const pairing = yield* find(id);
      if (pairing.secretHash === undefined || pairing.secretHash !== hashOf(secret)) return yield* noSuchPairing;
      if (pairing.state === "claimed" && waitMs > 0)
        yield* Effect.raceFirst(
          Deferred.await(pairing.decided),
          clock.sleep(Duration.millis(Math.min(waitMs, longestWait))),
        );
      yield* upToDate(pairing);
      return yield* deliver(pairing);
    }),
  });
});
