/** A proposed plan that is being written. It enters the log when it is complete. */
import { payloadBytes } from "../limits.ts";

export interface PlanBuffer {
  readonly planId: string;
  readonly turnId: string | undefined;
  readonly agentPath: ReadonlyArray<string>;
  pieces: Array<string>;
  units: number;
  events: number;
  /** The record it began with, and which event of it. */
  readonly firstSeq: number;
  readonly firstIndex: number;
}

/** A plan of another turn or agent is another plan, whatever its id. Ids hold no control characters. */
export const planKey = ({ planId, turnId, agentPath }: Pick<PlanBuffer, "planId" | "turnId" | "agentPath">): string =>
  `plan\u0000${turnId ?? ""}\u0000${agentPath.join("\u0001")}\u0000${planId}`;

/** Adds a piece. Beyond what an event can hold only the count goes on: the complete plan comes with its own text. */
export const pushPlan = (plan: PlanBuffer, text: string): void => {
  if (plan.units < payloadBytes) plan.pieces.push(text.slice(0, payloadBytes - plan.units));
  plan.units += text.length;
};

export const planText = (plan: PlanBuffer): string => plan.pieces.join("");
