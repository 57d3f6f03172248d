/**
 * One-time tickets: what a browser may put into the URL of a WebSocket, since it can't send a header with it and a token
 * does not belong there (I17). In memory alone: a restart ends all of them, as it ends every socket.
 */
import { createHash, randomBytes } from "node:crypto";
import { TooManyRequests } from "@tributary/contracts/api";
import type { Caller } from "@tributary/contracts/api";
import { Clock, Context, Effect, Layer } from "effect";

export const ticketMillis = 30_000;
/** Of one caller, issued and not used yet. */
const maxWaiting = 32;

type Holder = Caller["Service"];

interface Waiting {
  readonly holder: Holder;
  readonly expiresAt: number;
}

const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("base64url");
const iso = (millis: number): string => new Date(millis).toISOString();

export class Tickets extends Context.Service<
  Tickets,
  {
    /** A ticket that stands for the caller. */
    readonly issue: (
      holder: Holder,
    ) => Effect.Effect<{ readonly ticket: string; readonly expiresAt: string }, TooManyRequests>;
    /** Whom a ticket stands for, leaving it as it is. Undefined for one that is wrong, used, too old or of a token that ended. */
    readonly look: (ticket: string) => Effect.Effect<Holder | undefined>;
    /** The same, and the ticket is used up. */
    readonly use: (ticket: string) => Effect.Effect<Holder | undefined>;
  }
>()("tributary/server/Tickets") {
  static readonly layer: Layer.Layer<Tickets> = Layer.sync(Tickets, () => {
    /** By hash, the oldest first. */
    const waiting = new Map<string, Waiting>();

    const expire = (now: number): void => {
      for (const [hash, { expiresAt }] of waiting) {
        if (expiresAt > now) return;
        waiting.delete(hash);
      }
    };

    /** `found` runs in one go with the search: of two that use one ticket, one finds it. */
    const find = Effect.fnUntraced(function* (ticket: string, found: (hash: string) => void) {
      expire(yield* Clock.currentTimeMillis);
      const hash = hashOf(ticket);
      const holder = waiting.get(hash)?.holder;
      found(hash);
      return holder === undefined || (yield* hasEnded(holder)) ? undefined : holder;
    });

    return {
      issue: Effect.fnUntraced(function* (holder) {
        const now = yield* Clock.currentTimeMillis;
        expire(now);
        const others = [...waiting.values()].filter((one) => one.holder.id === holder.id);
        if (others.length >= maxWaiting)
          return yield* new TooManyRequests({
            detail: `${maxWaiting} tickets wait to be used; use one, or ask again when the oldest has run out.`,
            userAction: "wait",
            retryAt: iso(others[0]?.expiresAt ?? now),
          });
        const ticket = randomBytes(32).toString("base64url");
        const expiresAt = now + ticketMillis;
        waiting.set(hashOf(ticket), { holder, expiresAt });
        return { ticket, expiresAt: iso(expiresAt) };
      }),
      look: (ticket) => find(ticket, () => undefined),
      use: (ticket) => find(ticket, (hash) => waiting.delete(hash)),
    };
  });
}

/** Whether a token has been revoked by now. */
const hasEnded = ({ revoked }: Holder): Effect.Effect<boolean> =>
  Effect.raceFirst(Effect.as(revoked, true), Effect.as(Effect.yieldNow, false));
