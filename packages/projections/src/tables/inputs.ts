/** What people and automations said: the queue while it waits, the user's messages once it was handed over. */
import type { InputState, StoredEvent } from "@tributary/contracts";
import type { RowChange } from "@tributary/store";
import { jsonCell, textCell, type Cells } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

/** Those of which something may still become. */
const open = new Set<InputState>(["queued", "handed_over", "started", "unconfirmed", "failed"]);

export const inputs: Part = {
  tables: [
    {
      name: "inputs",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["input_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["state", "TEXT NOT NULL"],
        ["open", "INTEGER NOT NULL"],
        ["mode", "TEXT NOT NULL"],
        ["delivery", "TEXT NOT NULL"],
        ["turn_id", "TEXT"],
        ["generation", "INTEGER"],
        ["plan_id", "TEXT"],
        // The same as in the timeline, and when.
        ["row_position", "INTEGER"],
        ["at", "TEXT"],
        // UTF-16 code units of the text.
        ["length", "INTEGER NOT NULL"],
        ["origin", "TEXT NOT NULL"],
        ["attachments", "TEXT"],
        ["reason", "TEXT"],
        ["error", "TEXT"],
        ["text", "TEXT NOT NULL"],
      ],
      key: ["thread_id", "input_id"],
      indexes: [{ name: "open", columns: ["thread_id", "position"], where: "open = 1" }],
    },
  ],
  on: {
    "input.queued": (event) => {
      const { inputId, text, attachments, delivery, mode, origin, planId, again } = event.payload;
      const said = {
        mode,
        delivery,
        plan_id: planId,
        origin: JSON.stringify(origin),
        attachments: jsonCell(attachments),
        length: text.length,
        text: textCell(text),
      };
      if (again === true)
        return [move(event, inputId, "queued", { ...said, turn_id: null, reason: null, error: null })];
      return [
        put("inputs", {
          thread_id: event.streamId,
          input_id: inputId,
          position: event.sequence,
          state: "queued",
          open: 1,
          ...said,
        }),
      ];
    },
    "input.edited": (event) => [
      patch("inputs", keyOf(event, event.payload.inputId), {
        length: event.payload.text.length,
        text: textCell(event.payload.text),
      }),
    ],
    "input.handed_over": (event) => [
      move(
        event,
        event.payload.inputId,
        "handed_over",
        { generation: event.payload.generation },
        {
          row_position: event.sequence,
          at: event.occurredAt,
        },
      ),
    ],
    "input.started": (event) => [move(event, event.payload.inputId, "started", { turn_id: event.payload.turnId })],
    "input.done": (event) => [move(event, event.payload.inputId, "done", { turn_id: event.payload.turnId })],
    "input.withdrawn": (event) => [
      move(event, event.payload.inputId, "withdrawn", {
        reason: reason(event.payload.reason),
        row_position: null,
        at: null,
      }),
    ],
    "input.failed": (event) => [move(event, event.payload.inputId, "failed", { error: jsonCell(event.payload.error) })],
    "input.unconfirmed": (event) => [
      move(event, event.payload.inputId, "unconfirmed", { reason: reason(event.payload.reason) }),
    ],
    "input.withdraw_requested": (event) => [
      patch("inputs", keyOf(event, event.payload.inputId), { reason: "withdraw_requested" }),
    ],
    "input.withdraw_failed": (event) => [
      patch("inputs", keyOf(event, event.payload.inputId), {
        reason: textCell(`withdraw_failed: ${event.payload.error.message}`),
      }),
    ],
    "input.discarded": (event) => [move(event, event.payload.inputId, "discarded", {})],
  },
};

const keyOf = (event: StoredEvent, inputId: string) => ({ thread_id: event.streamId, input_id: inputId });

const reason = (text: string | undefined): string | undefined => (text === undefined ? undefined : textCell(text));

const move = (event: StoredEvent, inputId: string, state: InputState, set: Cells, setIfNull?: Cells): RowChange =>
  patch(
    "inputs",
    keyOf(event, inputId),
    { ...set, state, open: open.has(state) ? 1 : 0 },
    setIfNull === undefined ? {} : { setIfNull },
  );
