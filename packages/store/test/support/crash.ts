/** Kills a process that writes to a store, again and again, and checks what is left (I1). */
import { assert } from "@effect/vitest";
import { EventLog, Journal, RowReader, Store, Writer } from "@tributary/store";
import { Effect } from "effect";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { context, createThread } from "./commands.ts";
import { storeIn } from "./layers.ts";

const child = fileURLToPath(new URL("crash-child.ts", import.meta.url));

/** What the child said before it was killed after `acknowledged` lines. */
const runUntilKilled = (dir: string, run: number, acknowledged: number): Promise<ReadonlyArray<string>> => {
  const process_ = spawn(process.execPath, ["--no-warnings", child, dir, String(run)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Array<string> = [];
  createInterface(process_.stdout).on("line", (line) => {
    lines.push(line);
    if (lines.length === acknowledged) process_.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    process_.on("error", reject);
    process_.on("close", (_, signal) =>
      signal === "SIGKILL"
        ? resolve(lines)
        : reject(new Error(`the writing process ended by itself (${lines.length} lines)`)),
    );
  });
};

interface Acknowledged {
  readonly commands: Map<string, number>;
  readonly records: Map<string, number>;
}

const note = ({ commands, records }: Acknowledged, lines: ReadonlyArray<string>): void => {
  for (const line of lines) {
    const [what, id, number] = line.split(" ");
    // The last line may be cut off by the kill.
    if (id === undefined || number === undefined) continue;
    if (what === "command") commands.set(id, Number(number));
    if (what === "journal") records.set(id, Number(number));
  }
};

const check = ({ commands, records }: Acknowledged) =>
  Effect.gen(function* () {
    const store = yield* Store;
    const writer = yield* Writer;
    const log = yield* EventLog;
    const journal = yield* Journal;
    const reader = yield* RowReader;
    assert.deepStrictEqual(yield* store.integrityCheck, []);
    assert.deepStrictEqual(yield* store.diff, []);

    const head = writer.head();
    const events = new Map<string, Array<string>>();
    for (let after = 0; after < head;) {
      const page = yield* log.page({ after });
      for (const event of page) {
        events.set(event.streamId, [...(events.get(event.streamId) ?? []), event.type]);
        assert.strictEqual(event.sequence, after + 1);
        after = event.sequence;
      }
    }
    for (const [threadId, types] of events) assert.deepStrictEqual(types, ["thread.created", "input.queued"], threadId);
    assert.strictEqual(reader.get("SELECT count(*) AS n FROM {threads} WHERE inputs = 1")?.["n"], events.size);

    for (const [commandId, sequence] of commands) {
      const threadId = commandId.slice("create-".length);
      assert.isTrue(events.has(threadId), `${commandId} was acknowledged and is lost`);
      // The same command again: the receipt that was given.
      const command = { ...createThread(threadId), input: { inputId: `i-${threadId}`, text: "hello" } };
      const again = yield* writer.dispatch(command, context);
      assert.strictEqual(again.status === "accepted" && again.sequence, sequence);
    }
    assert.strictEqual(writer.head(), head);

    for (const [session, seq] of records) {
      const last = journal.lastSeq(session, 1);
      assert.isAtLeast(last, seq, `a record of ${session} was acknowledged and is lost`);
      const found = journal.read({ threadId: session, generation: 1, after: 0, limit: last + 1 });
      assert.deepStrictEqual(
        found.map((record) => record.seq),
        Array.from({ length: last }, (_, index) => index + 1),
      );
    }
  });

/** Kills at these numbers of acknowledgements, one process after the other on the same folder; checks after each. */
export const crashAndCheck = (dir: string, kills: ReadonlyArray<number>): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const acknowledged: Acknowledged = { commands: new Map(), records: new Map() };
    for (const [run, after] of kills.entries()) {
      note(acknowledged, yield* Effect.promise(() => runUntilKilled(dir, run, after)));
    }
    assert.isAbove(acknowledged.commands.size, kills.length);
    yield* check(acknowledged).pipe(Effect.provide(storeIn(dir)));
  });
