/** Reports that change nothing but what people see, and evidence about inputs. */
import type { DomainPayloads } from "@tributary/contracts";
import { countUnknown } from "../accounts.ts";
import { capError } from "../interpret/caps.ts";
import { usageKey } from "../interpret/coalesce.ts";
import { enter } from "../interpret/enter.ts";
import { folded, held, position, unless } from "../interpret/interpretation.ts";
import type { Handler } from "../interpret/interpretation.ts";
import { defined, root } from "../plain.ts";

export const inputState: Handler<"input.state"> = {
  apply: (it, { turnId, payload }) => {
    const { inputId, state, reason } = payload;
    const said = defined({ turnId, reason: reason === undefined ? undefined : capError(reason) });
    return unless(enter(it, { type: "input.evidence", inputId, state, ...said }));
  },
};

/** Merges by field for a second: counts only grow, and nobody reads them faster. */
export const usageUpdated: Handler<"usage.updated"> = {
  quiet: () => true,
  apply: (it, { turnId, agentPath, payload }) => {
    const { usage: pendings, accounts } = it.memory;
    const usage: DomainPayloads["usage.recorded"] = {
      ...defined({ turnId }),
      agentPath: agentPath ?? root,
      ...payload,
    };
    const key = usageKey(usage);
    const pending = pendings.get(key);
    if (pending === undefined) pendings.set(key, { usage, record: position(it), events: 1, since: it.arrived });
    else {
      pending.usage = { ...pending.usage, ...usage };
      pending.record = position(it);
      pending.events += 1;
    }
    accounts.held += 1;
    return held;
  },
};

export const contextCompacted: Handler<"context.compacted"> = {
  apply: (it, { turnId, payload }) =>
    unless(enter(it, { type: "context.compact", ...defined({ turnId }), ...payload })),
};

export const modelRerouted: Handler<"model.rerouted"> = {
  apply: (it, { turnId, payload }) => {
    const { from, to, reason } = payload;
    const why = defined({ turnId, reason: reason === undefined ? undefined : capError(reason) });
    return unless(enter(it, { type: "model.reroute", from, to, ...why }));
  },
};

/** The journal is its place; the guard folds it before it comes here. */
export const journalOnly: Handler<"account.limits" | "mcp.status" | "commands.available"> = {
  quiet: () => true,
  apply: () => folded,
};

/** A native message the adapter does not know: kept, counted, never fatal (I18). */
export const unknownMessage: Handler<"unknown"> = {
  quiet: () => true,
  apply: (it, { payload }) => {
    countUnknown(it.memory.accounts, payload.kind);
    return folded;
  },
};
