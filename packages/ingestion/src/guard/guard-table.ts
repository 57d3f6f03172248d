/** The table of design 4.3: what becomes of an event, by the standing of the turn that it names. */
import type { RefusalReason, RuntimeEventType } from "@tributary/contracts";
import { checks } from "./guard-checks.ts";
import type { Check } from "./verdict.ts";

export type Ruling = "apply" | "late" | RefusalReason;

export interface Row<T extends RuntimeEventType> {
  /** After this generation's end: `late` finalises a turn that is over, all else is refused. */
  readonly over: "late" | "session_over";
  readonly active: Ruling;
  readonly ended: Ruling;
  readonly unknown: Ruling;
  /** It names no turn. */
  readonly none: Ruling;
  /** In place of `unknown` and `none` while a turn is active: it would end that one. */
  readonly otherActive?: RefusalReason;
  /** Asked only where the row says `apply`. */
  readonly check?: Check<T>;
}

/** The turn does not matter. */
const always = { over: "session_over", active: "apply", ended: "apply", unknown: "apply", none: "apply" } as const;

/** Part of a turn: only while that turn runs. */
const ofTurn = { ...always, ended: "turn_over", unknown: "turn_unknown" } as const;

/** Text and item ends finalise their own turn, also when it is over. */
const finalising = { ...ofTurn, over: "late", ended: "late" } as const;

export const guardTable: { readonly [T in RuntimeEventType]: Row<T> } = {
  "session.started": { ...always, check: checks.newFacts },
  "session.configured": always,
  "session.state": { ...always, check: checks.errorsOnly },
  "session.exited": always,
  "session.title": always,

  "turn.started": { ...always, ended: "turn_over", none: "invalid", check: checks.turnMayStart },
  "turn.completed": { ...ofTurn, none: "no_active_turn", otherActive: "not_active_turn" },
  "turn.plan": ofTurn,
  // Runtimes send the last diff with the end of a turn, or after it.
  "turn.diff": { ...ofTurn, ended: "apply", none: "turn_unknown" },
  "proposed_plan.delta": ofTurn,
  "proposed_plan.completed": ofTurn,

  "item.started": { ...ofTurn, check: checks.itemOpen },
  "item.updated": { ...ofTurn, check: checks.itemOpen },
  "item.completed": { ...finalising, check: checks.itemOpen },
  "content.delta": finalising,
  "content.retracted": { ...ofTurn, check: checks.namesItem },

  "input.state": { ...always, check: checks.inputOpen },
  "request.opened": { ...ofTurn, check: checks.requestNew },
  "request.resolved": { ...always, check: checks.requestOpen },

  "task.started": { ...ofTurn, check: checks.taskNotOver },
  "task.updated": { ...always, check: checks.taskMayMove },
  "task.completed": { ...always, check: checks.taskMayMove },

  "usage.updated": always,
  "context.compacted": always,
  "retry.scheduled": always,
  "model.rerouted": always,
  "account.limits": { ...always, check: checks.keptInJournal },
  "mcp.status": { ...always, check: checks.keptInJournal },
  "commands.available": { ...always, check: checks.keptInJournal },
  notice: always,
  "runtime.error": always,
  // Its handler counts it.
  unknown: always,
};
