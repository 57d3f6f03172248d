/** `session.*`: what the runtime says of itself. The engine opens and closes sessions; a runtime only adds facts. */
import { capError, capTail, fit } from "../interpret/caps.ts";
import { enter } from "../interpret/enter.ts";
import { folded, unless } from "../interpret/interpretation.ts";
import type { Handler } from "../interpret/interpretation.ts";
import { pick } from "../plain.ts";
import { settleEverything } from "../interpret/settlement.ts";
import { notice } from "./notices.ts";

export const sessionStarted: Handler<"session.started"> = {
  apply: (it, { payload }) => {
    const { nativeSessionId } = payload;
    // Of a context that was cleared: from here on another native session is the one to resume.
    const isOther = nativeSessionId !== it.state()?.session?.nativeSessionId;
    const facts = { ...pick(payload, ["model", "effort"]), ...(isOther ? { nativeSessionId } : {}) };
    return unless(enter(it, { type: "session.configure", generation: it.memory.generation, ...facts }));
  },
};

export const sessionConfigured: Handler<"session.configured"> = {
  apply: (it, { payload }) =>
    unless(enter(it, { type: "session.configure", generation: it.memory.generation, ...fit(payload) })),
};

export const sessionState: Handler<"session.state"> = {
  apply: (it, { payload }) =>
    payload.state === "error"
      ? notice(it, {
          level: "error",
          code: "session_error",
          message: payload.reason ?? "The runtime reports an error.",
        })
      : folded,
};

export const sessionExited: Handler<"session.exited"> = {
  apply: (it, { payload }) => {
    settleEverything(it);
    const { reason, stderrTail, ...rest } = payload;
    const said = {
      ...(reason === undefined ? {} : { reason: capError(reason) }),
      ...(stderrTail === undefined ? {} : { stderrTail: capTail(stderrTail) }),
    };
    const { generation } = it.memory;
    return unless(enter(it, { type: "session.exit", generation, seen: "runtime", ...rest, ...said }));
  },
};

export const sessionTitle: Handler<"session.title"> = {
  apply: (it, { payload }) => unless(enter(it, { type: "thread.title", title: capError(payload.title) })),
};
