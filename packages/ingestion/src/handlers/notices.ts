/** What people should know and nothing follows from: notices, errors that end nothing, retries. */
import type { DomainPayloads } from "@tributary/contracts";
import { capError } from "../interpret/caps.ts";
import { enter } from "../interpret/enter.ts";
import { unless } from "../interpret/interpretation.ts";
import type { Handler, Interpretation, Outcome } from "../interpret/interpretation.ts";

type Notice = Omit<DomainPayloads["notice.recorded"], "noticeId">;

/** Ids follow from the record, so that interpreting it again makes the same notice. */
export const notice = (it: Interpretation, { message, detail, ...rest }: Notice): Outcome => {
  const noticeId = `n${it.memory.generation}.${it.seq}.${it.index}`;
  const words = { message: capError(message), ...(detail === undefined ? {} : { detail: capError(detail) }) };
  return unless(enter(it, { type: "notice.record", noticeId, ...rest, ...words }));
};

const turnOf = ({ turnId }: { readonly turnId?: string }): { readonly turnId?: string } =>
  turnId === undefined ? {} : { turnId };

export const noticeRecorded: Handler<"notice"> = {
  apply: (it, event) => notice(it, { ...turnOf(event), ...event.payload }),
};

/** Fatal or not, an error ends nothing: the turn's end and the session's exit are said on their own. */
export const runtimeError: Handler<"runtime.error"> = {
  apply: (it, event) => {
    const { class: kind, message, retryable, fatal } = event.payload;
    const level = retryable && !fatal ? "warning" : "error";
    return notice(it, { ...turnOf(event), level, code: `runtime_error.${kind}`, message });
  },
};

export const retryScheduled: Handler<"retry.scheduled"> = {
  apply: (it, event) => {
    const { attempt, limit, delayMs, reason } = event.payload;
    const of = limit === undefined ? "" : ` of ${limit}`;
    const when = delayMs === undefined ? "" : ` in ${delayMs} ms`;
    const message = `Retry ${attempt}${of}${when}: ${reason}`;
    return notice(it, { ...turnOf(event), level: "warning", code: "retry_scheduled", message });
  },
};
