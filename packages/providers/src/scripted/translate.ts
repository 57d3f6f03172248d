/** From frames of the scripted runtime to records: almost nothing, because its events are canonical already. Pure. */
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import type { Answer, RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import type { Call, ReadFrame } from "./protocol.ts";

/** One frame as a record. An event that does not fit its schema becomes an `unknown` one (I18); noise is kept as it is. */
export const translate = (frame: ReadFrame): RuntimeRecord => {
  if ("reply" in frame)
    return {
      kind: "reply",
      dir: "in",
      native: { kind: "reply", frame },
      replyTo: String(frame.reply),
      events: [],
    };
  if ("noise" in frame)
    return { kind: "frame", native: { kind: "noise", frame: frame.noise }, events: [unknownEvent("noise")] };
  const event = decodeRuntimeEvent(frame.event);
  return isUndecodable(event)
    ? {
        kind: "frame",
        native: { kind: event.type ?? "undecodable", frame: frame.event },
        events: [unknownEvent(event.type ?? "undecodable")],
      }
    : eventRecord(event);
};

/** An event that is known to be whole, as a record. A request is a call: it wants a result. */
export const eventRecord = (event: RuntimeEvent): RuntimeRecord => ({
  kind: event.type === "request.opened" ? "call" : "frame",
  native: { kind: event.type, frame: event },
  events: [event],
});

const unknownEvent = (kind: string): RuntimeEvent => ({ type: "unknown", payload: { kind } });

/** A call of ours as a record. `secrets`: ids of the questions whose values must not be written (I16). */
export const callRecord = (call: Call, secrets: ReadonlySet<string>): RuntimeRecord =>
  call.method === "answer"
    ? {
        kind: "reply",
        dir: "out",
        native: {
          kind: "answer",
          frame: { ...call, params: { ...call.params, answer: masked(call.params.answer, secrets) } },
        },
        replyTo: call.params.requestId,
        events: [],
      }
    : { kind: "call", dir: "out", native: { kind: call.method, frame: call }, events: [] };

const masked = (answer: Answer, secrets: ReadonlySet<string>): Answer =>
  "answers" in answer
    ? {
        answers: Object.fromEntries(
          Object.entries(answer.answers).map(([id, value]) => [id, secrets.has(id) ? "•••" : value]),
        ),
      }
    : answer;
