/**
 * I4: every delta that was taken stands once, in a message of its own turn and agent, in the order in which it came; no
 * delta that was refused stands anywhere. Each delta says `<number>`, so that it can be found.
 */
import type { ScenarioState } from "@tributary/projections";
import type { Played } from "./play.ts";
import { retractable, same } from "./script.ts";
import type { ScriptLine } from "./script.ts";

interface Sent {
  readonly event: ScriptLine;
  /** Undefined: one copy was refused, and a later one perhaps only known already. */
  readonly taken: boolean | undefined;
}

const marks = (text: string): ReadonlyArray<string> => [...text.matchAll(/<(\d+)>/g)].map(([, mark = ""]) => mark);

/** What became of each delta of a thread, in the order of sending. The same event again in its session says nothing. */
const sentTo = (threadId: string, played: ReadonlyArray<Played>): ReadonlyMap<string, Sent> => {
  const sent = new Map<string, Sent>();
  const known = new Set<string>();
  let refusedBefore = 0;
  let generation = 0;
  for (const { line, refused, events } of played) {
    const taken = refused === refusedBefore;
    refusedBefore = refused;
    generation += events.filter(({ type, streamId }) => type === "session.opening" && streamId === threadId).length;
    const event = line["event"] as ScriptLine | undefined;
    if (event?.["threadId"] !== threadId || event["type"] !== "content.delta") continue;
    const [mark] = marks((event["payload"] as { readonly text: string }).text);
    const session = `${String(event["generation"] ?? generation)} ${mark}`;
    if (mark === undefined || known.has(session)) continue;
    known.add(session);
    // One that was refused in its session and came again in the next counts there.
    if (sent.get(mark)?.taken === true) continue;
    sent.delete(mark);
    sent.set(mark, { event, taken });
  }
  return sent;
};

export const checkTexts = (played: ReadonlyArray<Played>, { threads }: ScenarioState): void => {
  for (const thread of threads) {
    const sent = sentTo(thread.id, played);
    const order = [...sent.keys()];
    const found = new Map<string, number>();
    const texts = [...thread.messages.filter(({ role }) => role === "assistant"), ...thread.reasoning];
    for (const { id, text, turnId, agentPath } of texts) {
      const said = marks(text);
      for (const mark of said) {
        found.set(mark, (found.get(mark) ?? 0) + 1);
        const event = sent.get(mark)?.event;
        const own = event?.["turnId"] === turnId && same(event?.["agentPath"] ?? [], agentPath);
        if (!own) throw new Error(`<${mark}> stands in ${id}, where it was not said (I6)`);
      }
      const places = said.map((mark) => order.indexOf(mark));
      if (places.some((place, index) => index > 0 && place <= (places[index - 1] ?? 0)))
        throw new Error(`${id} says ${said.join(", ")} out of order (I4)`);
    }
    for (const [mark, { event, taken }] of sent) {
      const times = found.get(mark) ?? 0;
      const mayBeGone = event["itemId"] === retractable;
      if (times > 1) throw new Error(`<${mark}> stands ${times} times (I4)`);
      if (taken === false && times > 0) throw new Error(`<${mark}> was refused, and stands (I5)`);
      if (taken === true && times === 0 && !mayBeGone) throw new Error(`<${mark}> was taken, and is lost (I4)`);
    }
  }
};
