/**
 * Token counts of the root agent by what they count over. Reports merge by field: what one does not say stays. The rows
 * are there from the thread's creation, so that a report only changes one.
 */
import type { Usage, UsageBasis } from "@tributary/contracts";
import type { Cells } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

const bases: ReadonlyArray<(typeof UsageBasis)["Type"]> = ["turn", "session", "unknown"];

export const usage: Part = {
  tables: [
    {
      name: "usage",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["basis", "TEXT NOT NULL"],
        // NULL: nothing was reported yet.
        ["as_of", "INTEGER"],
        ["turn_id", "TEXT"],
        ["context_tokens", "INTEGER"],
        ["context_window", "INTEGER"],
        ["input_tokens", "INTEGER"],
        ["cached_input_tokens", "INTEGER"],
        ["cache_write_tokens", "INTEGER"],
        ["output_tokens", "INTEGER"],
        ["reasoning_tokens", "INTEGER"],
        ["cost_usd", "REAL"],
        ["cost_basis", "TEXT"],
        ["model", "TEXT"],
      ],
      key: ["thread_id", "basis"],
      withoutRowid: true,
    },
  ],
  on: {
    "thread.created": (event) => bases.map((basis) => put("usage", { thread_id: event.streamId, basis })),
    // A turn's counts begin anew with it.
    "turn.started": (event) => [
      put("usage", { thread_id: event.streamId, basis: "turn", turn_id: event.payload.turnId }),
    ],
    "turn.ended": (event) => {
      const { usage, costUsd, costBasis } = event.payload;
      if (usage === undefined && costUsd === undefined) return [];
      return [
        patch(
          "usage",
          { thread_id: event.streamId, basis: "turn" },
          {
            as_of: event.sequence,
            ...usageCells(usage ?? {}),
            ...(costUsd === undefined ? {} : { cost_usd: costUsd, cost_basis: costBasis }),
          },
        ),
      ];
    },
    "usage.recorded": (event) =>
      event.payload.agentPath.length > 0
        ? []
        : [
            patch(
              "usage",
              { thread_id: event.streamId, basis: event.payload.basis },
              { as_of: event.sequence, turn_id: event.payload.turnId, ...usageCells(event.payload) },
            ),
          ],
  },
};

const usageCells = (usage: Usage): Cells => ({
  context_tokens: usage.contextTokens,
  context_window: usage.contextWindow,
  input_tokens: usage.inputTokens,
  cached_input_tokens: usage.cachedInputTokens,
  cache_write_tokens: usage.cacheWriteTokens,
  output_tokens: usage.outputTokens,
  reasoning_tokens: usage.reasoningTokens,
  cost_usd: usage.costUsd,
  cost_basis: usage.costBasis,
  model: usage.model,
});
