/** Proposed plans (rows that a person accepts or rejects) and the agents' current step lists. */
import { jsonCell } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

export const plans: Part = {
  tables: [
    {
      name: "plans",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["plan_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["state", "TEXT NOT NULL"],
        ["at", "TEXT NOT NULL"],
        // JSON text.
        ["markdown", "TEXT NOT NULL"],
      ],
      key: ["thread_id", "plan_id"],
      indexes: [{ name: "order", columns: ["thread_id", "position"] }],
    },
    {
      name: "plan_steps",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["agent_path", "TEXT NOT NULL"],
        ["turn_id", "TEXT"],
        ["as_of", "INTEGER NOT NULL"],
        ["steps", "TEXT NOT NULL"],
        // JSON text.
        ["explanation", "TEXT"],
      ],
      key: ["thread_id", "agent_path"],
    },
  ],
  on: {
    "plan.proposed": (event) => [
      put("plans", {
        thread_id: event.streamId,
        plan_id: event.payload.planId,
        position: event.sequence,
        turn_id: event.payload.turnId,
        agent_path: JSON.stringify(event.payload.agentPath),
        state: "proposed",
        at: event.occurredAt,
        markdown: JSON.stringify(event.payload.markdown),
      }),
    ],
    "plan.resolved": (event) => [
      patch("plans", { thread_id: event.streamId, plan_id: event.payload.planId }, { state: event.payload.outcome }),
    ],
    "turn.plan_updated": (event) => [
      put("plan_steps", {
        thread_id: event.streamId,
        agent_path: JSON.stringify(event.payload.agentPath),
        turn_id: event.payload.turnId,
        as_of: event.sequence,
        steps: JSON.stringify(event.payload.steps),
        explanation: jsonCell(event.payload.explanation),
      }),
    ],
  },
};
