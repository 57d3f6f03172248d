/** What became of a thread's records, in numbers: for `GET /threads/:id/diagnostics` and people who look for a fault. */
import type { RefusalReason } from "@tributary/contracts";
import type { Accounts } from "../accounts.ts";
import type { Lane, Stall } from "./lane.ts";

export interface Diagnostics {
  /** Events that entered the log, that needed not, and that wait in a buffer. */
  readonly applied: number;
  readonly folded: number;
  readonly held: number;
  /** By reason; `undecodable` among them. */
  readonly refused: { readonly [R in RefusalReason]?: number };
  /** Native messages that the adapter does not know, by kind. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Records that wait to be dealt with. */
  readonly waiting: number;
  /** What fails and is tried again; absent when nothing does. */
  readonly stalled?: Stall;
}

export const diagnosticsOf = (accounts: Accounts, lane: Lane | undefined): Diagnostics => ({
  applied: accounts.applied,
  folded: accounts.folded,
  held: accounts.held,
  refused: { ...accounts.refused },
  unknown: Object.fromEntries(accounts.unknown),
  waiting: lane === undefined ? 0 : lane.accepted - lane.done,
  ...(lane?.stall === undefined ? {} : { stalled: lane.stall }),
});
