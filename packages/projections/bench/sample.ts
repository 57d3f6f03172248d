/** A long thread: turns of the size that coding agents make, about 50 events each. */
import type { StoredEvent } from "@tributary/contracts";
import { beginTurn, endTurn, makeHistory, openSession, say, startActivity } from "../test/history.ts";

const paragraph = "The parser reads one line at a time and keeps what it has not understood yet. ".repeat(4);
const listing = `${"src/parser/lines.ts:42: const rest = buffer.slice(end)\n".repeat(30)}`;

/** At least `events` events of one thread. */
export const longThread = (threadId: string, events: number): ReadonlyArray<StoredEvent> => {
  const history = makeHistory();
  history.thread(threadId, { title: "A long thread" });
  openSession(history, threadId);
  for (let turn = 0; history.events.length < events; turn++) {
    const turnId = `turn-${turn}`;
    beginTurn(history, threadId, `input-${turn}`, turnId, `Please look into ${turn}.`);
    for (let step = 0; step < 5; step++) {
      say(history, threadId, turnId, `say-${step}`, [paragraph, paragraph, paragraph]);
      const activityId = startActivity(history, threadId, turnId, `run-${step}`, { title: "rg slice src" });
      history.add(threadId, "activity.updated", { activityId, commandOutput: { append: listing } });
      history.add(threadId, "activity.ended", {
        activityId,
        status: "completed",
        exitCode: 0,
        ...(step === 4
          ? { changes: [{ path: "src/parser/lines.ts", kind: "update" as const, diff: "@@ -1 +1 @@\n-a\n+b" }] }
          : {}),
      });
      history.add(threadId, "usage.recorded", {
        turnId,
        agentPath: [],
        basis: "session",
        contextTokens: 1000 * step,
        outputTokens: turn,
      });
    }
    endTurn(history, threadId, `input-${turn}`, turnId, { stopReason: "end" });
  }
  return history.events;
};
