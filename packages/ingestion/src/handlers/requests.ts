/** `request.*`: the agent waits for a person. Section 5 has the states. */
import { subjectHash } from "@tributary/domain";
import { capRequest } from "../interpret/caps.ts";
import { enter } from "../interpret/enter.ts";
import { refused, unless } from "../interpret/interpretation.ts";
import type { Handler } from "../interpret/interpretation.ts";
import { defined, root } from "../plain.ts";
import { endAgent } from "../text/text.ts";

export const requestOpened: Handler<"request.opened"> = {
  apply: (it, event) => {
    const { requestId, turnId, itemId, payload } = event;
    if (requestId === undefined) return refused("invalid");
    const agentPath = event.agentPath ?? root;
    // What the agent said before it asked stands before the question, and is over.
    endAgent(it, agentPath);
    const where = { requestId, agentPath, generation: it.memory.generation, ...defined({ turnId, itemId }) };
    // The hash is over what was asked as a whole, however much of it fits an event.
    const asked = { subjectHash: subjectHash(payload), ...capRequest(payload, it.blobs) };
    return unless(enter(it, { type: "request.open", ...where, ...asked }));
  },
};

export const requestResolved: Handler<"request.resolved"> = {
  apply: (it, { requestId, payload }) =>
    requestId === undefined
      ? refused("invalid")
      : unless(enter(it, { type: "request.resolve", requestId, ...payload })),
};
