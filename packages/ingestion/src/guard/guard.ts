/**
 * The guard (design 4.3): whether an event may act on its thread as the thread is now. Pure, over the committed state
 * and what the same step did before, so it never races with a client's command.
 *
 *   event ─► thread there? ─► of the current generation? ─► session over? ─► row of its type × standing of its turn
 *                 │                     │                        │                       │
 *                 ▼                     ▼                        ▼                       ▼
 *           thread_unknown        no_session                late of an            apply · late · fold · refuse
 *           thread_deleted        other_generation          ended turn, or
 *                                                           session_over
 *
 * G1 No event of one turn or generation changes another (I6).
 * G2 Every event gets exactly one verdict, and every refusal a reason: nothing is dropped in silence (I5).
 * G3 An unknown type never stops a thread: it is folded (I18).
 * G4 The cost is a few look-ups by key, whatever the thread's length (I12).
 */
import type { RuntimeEventEnvelope, RuntimeEventOf, RuntimeEventType } from "@tributary/contracts";
import { isLive } from "@tributary/domain";
import type { Lookups, ThreadState } from "@tributary/domain";
import { worksInBackground } from "./background.ts";
import { guardTable } from "./guard-table.ts";
import type { Row } from "./guard-table.ts";
import { apply, late, refuse } from "./verdict.ts";
import type { Facts, Verdict } from "./verdict.ts";

export interface GuardContext {
  /** Of the record that the event came with. */
  readonly generation: number;
  readonly state: ThreadState | undefined;
  readonly look: Lookups;
}

/** `foreign`: over, and of another generation. */
type Standing = "active" | "background" | "ended" | "foreign" | "unknown" | "none";

const standing = ({ turnId, agentPath }: RuntimeEventEnvelope, { state, session, look }: Facts): Standing => {
  if (turnId === undefined) return "none";
  if (turnId === state.turn?.turnId) return "active";
  const closed = look.closed("turn", turnId);
  if (closed === undefined) return "unknown";
  if (closed.generation !== session.generation) return "foreign";
  return agentPath !== undefined && worksInBackground(state, agentPath) ? "background" : "ended";
};

/** Only what is about a turn as such does not mind whether its agents still work. */
const column = <T extends RuntimeEventType>(
  row: Row<T>,
  turn: Standing,
): Exclude<Standing, "background" | "foreign"> => {
  if (turn === "foreign") return "ended";
  if (turn !== "background") return turn;
  return row.otherActive === undefined ? "active" : "ended";
};

const byRow = <T extends RuntimeEventType>(row: Row<T>, turn: Standing, active: boolean): Verdict => {
  const ruling = row[column(row, turn)];
  if (ruling === "apply") return apply;
  if (ruling === "late") return turn === "foreign" ? refuse("other_generation") : late;
  const claims = active && (turn === "unknown" || turn === "none");
  return refuse(claims && row.otherActive !== undefined ? row.otherActive : ruling);
};

/** What may become of an event. `apply` and `late` leave the last word to the decider. */
export const guard = <T extends RuntimeEventType>(event: RuntimeEventOf<T>, context: GuardContext): Verdict => {
  const { state, generation, look } = context;
  if (state === undefined) return refuse("thread_unknown");
  if (state.deleted) return refuse("thread_deleted");
  const { session } = state;
  if (session === undefined) return refuse("no_session");
  if (session.generation !== generation) return refuse("other_generation");
  const facts: Facts = { state, session, look };
  const row = guardTable[event.type];
  const turn = standing(event, facts);
  if (!isLive(state)) return row.over === "late" && turn === "ended" ? late : refuse("session_over");
  const verdict = byRow(row, turn, state.turn !== undefined);
  return verdict.verdict === "apply" ? (row.check?.(event, facts) ?? apply) : verdict;
};
