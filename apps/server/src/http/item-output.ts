/** The whole of a tool's output: what the log keeps as a window stands whole in the journal. */
import type { RuntimeEvent } from "@tributary/contracts";
import { maskSecrets } from "@tributary/ingestion";
import { Views } from "@tributary/projections";
import { Journal } from "@tributary/store";
import { Effect } from "effect";
import { KnownSecrets } from "../KnownSecrets.ts";
import { notFound, storeProblem } from "./problems.ts";

const batch = 500;
/** The answer is one JSON document: beyond this the records themselves are the place to read. UTF-16 code units. */
const largest = 16 * 1024 * 1024;

interface Place {
  readonly itemId: string;
  readonly turnId?: string;
  readonly agentPath: ReadonlyArray<string>;
}

/** What an event adds to the output of one command. Agents may have given their items the same id. */
const pieceOf = (event: RuntimeEvent, { itemId, turnId, agentPath }: Place): string => {
  if (event.type !== "content.delta" || event.payload.stream !== "command_output") return "";
  const path = event.agentPath ?? [];
  const isOf =
    event.itemId === itemId &&
    event.turnId === turnId &&
    path.length === agentPath.length &&
    path.every((part, index) => part === agentPath[index]);
  return isOf ? event.payload.text : "";
};

export const wholeOutput = Effect.fnUntraced(function* (threadId: string, itemId: string) {
  const views = yield* Views;
  const journal = yield* Journal;
  const found = yield* Effect.mapError(views.itemOutput(threadId, itemId), storeProblem);
  if (found === undefined) return yield* notFound(`Thread ${threadId} has no item ${itemId}.`);
  const { activity, generation } = found;
  const window = activity.commandOutput;
  if (window === undefined)
    return {
      itemId: activity.itemId,
      output: typeof activity.output === "string" ? activity.output : JSON.stringify(activity.output ?? ""),
      complete: (activity.cut ?? []).length === 0,
    };
  if (window.omitted === 0)
    return { itemId: activity.itemId, output: window.head + window.tail, complete: activity.endedAt !== undefined };
  let output = "";
  for (let after = 0; output.length < largest;) {
    const records = journal.read({ threadId, generation, after, limit: batch });
    for (const { events } of records) for (const event of events) output += pieceOf(event, activity);
    const last = records.at(-1);
    if (last === undefined) break;
    after = last.seq;
    // Reading a long journal must not hold up everybody else.
    yield* Effect.yieldNow;
  }
  // Pruned records leave the window alone.
  return output.length >= (window.size ?? window.head.length)
    ? {
        itemId: activity.itemId,
        // The journal has it as it came: a secret in pieces is one here.
        output: maskSecrets(output, (yield* KnownSecrets).of(threadId)),
        complete: activity.endedAt !== undefined && output.length < largest,
      }
    : {
        itemId: activity.itemId,
        output: `${window.head}\n… ${window.omitted} code units are no longer kept …\n${window.tail}`,
        complete: false,
      };
});
