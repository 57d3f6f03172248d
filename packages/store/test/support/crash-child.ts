/**
 * Writes to the store in the folder given until it is killed, and says on stdout what was acknowledged, a line each:
 * `command <commandId> <sequence>` and `journal <threadId> <seq>`. Many at once, so that a kill hits groups.
 */
import "effect/schema/SchemaJITCompiler/enable";
import { Journal, Writer } from "@tributary/store";
import { Effect } from "effect";
import { writeSync } from "node:fs";
import { context, createThread } from "./commands.ts";
import { entry } from "./entries.ts";
import { storeIn } from "./layers.ts";

const [, , dir = "", run = ""] = process.argv;
const clients = 32;

const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`));

const client = (index: number) =>
  Effect.gen(function* () {
    const writer = yield* Writer;
    const journal = yield* Journal;
    const session = `J${run}-${index}`;
    for (let count = 1; ; count += 1) {
      const threadId = `T${run}-${index}-${count}`;
      // Two events in one command: neither may be there without the other.
      const command = { ...createThread(threadId), input: { inputId: `i-${threadId}`, text: "hello" } };
      const receipt = yield* writer.dispatch(command, context);
      if (receipt.status === "rejected") return yield* Effect.die(receipt);
      yield* say(`command ${receipt.commandId} ${receipt.sequence}`);
      yield* journal.append([entry(session, 1, count, { id: `e${count}` })]);
      yield* say(`journal ${session} ${count}`);
    }
  });

const program = Effect.forEach(
  Array.from({ length: clients }, (_, index) => index),
  client,
  {
    concurrency: "unbounded",
    discard: true,
  },
);

Effect.runFork(program.pipe(Effect.provide(storeIn(dir))));
