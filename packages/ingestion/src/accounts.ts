/**
 * The books of one session (I5): every event that the journal took is in exactly one of them. `held` events are in a
 * buffer: they become applied, or refused, when it is flushed. Plain data: part of the checkpoint.
 */
import type { RefusalReason } from "@tributary/contracts";
import { namedKinds } from "./limits.ts";

export interface Accounts {
  applied: number;
  folded: number;
  held: number;
  refused: { [R in RefusalReason]?: number };
  /** Native kinds that the adapter did not know. */
  readonly unknown: Map<string, number>;
}

export const emptyAccounts = (): Accounts => ({ applied: 0, folded: 0, held: 0, refused: {}, unknown: new Map() });

export const countRefused = (accounts: Accounts, reason: RefusalReason, events = 1): void => {
  accounts.refused[reason] = (accounts.refused[reason] ?? 0) + events;
};

/** The number of kinds is bounded: runtimes may put anything there. */
export const countUnknown = (accounts: Accounts, kind: string): void => {
  const short = kind.slice(0, 128);
  const name = accounts.unknown.has(short) || accounts.unknown.size < namedKinds ? short : "(others)";
  accounts.unknown.set(name, (accounts.unknown.get(name) ?? 0) + 1);
};

/** Events that left a buffer: into the log, or refused there. */
export const settleHeld = (accounts: Accounts, events: number, refusal: RefusalReason | undefined): void => {
  accounts.held -= events;
  if (refusal === undefined) accounts.applied += events;
  else countRefused(accounts, refusal, events);
};

export const totalRefused = (accounts: Accounts): number =>
  Object.values(accounts.refused).reduce((sum, count) => sum + count, 0);

/** All events that were interpreted. */
export const totalEvents = (accounts: Accounts): number =>
  accounts.applied + accounts.folded + accounts.held + totalRefused(accounts);
