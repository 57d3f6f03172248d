/** `content.retracted`: a cut and retried stream must not stay in front of the retry (4.6, docs/decisions/012). */
import { capError } from "../interpret/caps.ts";
import { applied, folded, refused } from "../interpret/interpretation.ts";
import type { Handler, Interpretation } from "../interpret/interpretation.ts";
import type { RuntimeEventOf } from "@tributary/contracts";
import { retract, retractWhole } from "../text/retract.ts";
import type { TextItem } from "../text/segments.ts";
import { firstFreeNumber, itemsOf, placeOf } from "../text/text-items.ts";

type Retracted = RuntimeEventOf<"content.retracted">;

/** Whether the item's text is complete: nothing was streamed since, so there is nothing to take back. */
const isComplete = (it: Interpretation, event: Retracted, items: ReadonlyArray<TextItem>): boolean =>
  items.length > 0
    ? items.some(({ done }) => done)
    : firstFreeNumber(it.look, { kind: "message", ...placeOf(event) }) > 0;

export const contentRetracted: Handler<"content.retracted"> = {
  apply: (it, event) => {
    const reason = capError(event.payload.reason);
    const items = itemsOf(it.memory, event);
    if (event.payload.whole === true) {
      const refusal = retractWhole(it, placeOf(event), items, reason);
      return refusal === undefined ? applied : refused(refusal);
    }
    const streaming = items.filter(({ open }) => open !== undefined);
    if (streaming.length === 0) return isComplete(it, event, items) ? refused("item_over") : folded;
    for (const item of streaming) {
      const refusal = retract(it, item, reason);
      if (refusal !== undefined) return refused(refusal);
    }
    return applied;
  },
};
