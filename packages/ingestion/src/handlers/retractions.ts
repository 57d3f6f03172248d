/** `content.retracted`: a cut and retried stream must not stay in front of the retry. */
import { capError } from "../interpret/caps.ts";
import { applied, refused } from "../interpret/interpretation.ts";
import type { Handler } from "../interpret/interpretation.ts";
import { retract } from "../text/retract.ts";
import { itemsOf } from "../text/text-items.ts";

export const contentRetracted: Handler<"content.retracted"> = {
  apply: (it, event) => {
    const reason = capError(event.payload.reason);
    for (const item of itemsOf(it.memory, event)) {
      const refusal = retract(it, item, reason);
      if (refusal !== undefined) return refused(refusal);
    }
    return applied;
  },
};
