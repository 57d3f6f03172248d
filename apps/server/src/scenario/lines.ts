/** What each kind of scenario line does to the stage. */
import { Capabilities, ClientCommand } from "@tributary/contracts";
import type { Receipt } from "@tributary/contracts";
import { scenarioState } from "@tributary/projections";
import { normalizeRecords } from "@tributary/providers";
import type { StoreError } from "@tributary/store";
import { Effect, Schema } from "effect";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ScenarioFileError } from "./script.ts";
import type { Line, NumberedLine } from "./script.ts";
import type { ScenarioReceipt, Stage } from "./stage.ts";
import { defaultCapabilities } from "./stub.ts";

type Failing = ScenarioFileError | StoreError;
type Handlers = {
  readonly [K in LineKind]: (
    stage: Stage,
    value: Extract<Line, Record<K, unknown>>[K],
    number: number,
  ) => Effect.Effect<void, Failing>;
};
type LineKind = Line extends infer L ? (L extends unknown ? keyof L : never) : never;

const client = { kind: "client", id: "scenario" } as const;

const decodeCommand = Schema.decodeUnknownSync(ClientCommand);
const decodeCapabilities = Schema.decodeUnknownSync(Capabilities);

/** Reads part of a line; what does not fit is an error of the file. */
const reading = <A>(number: number, read: () => A): Effect.Effect<A, ScenarioFileError> =>
  Effect.try({
    try: read,
    catch: (cause) =>
      new ScenarioFileError({
        line: number,
        message: `line ${number}: ${cause instanceof Error ? cause.message : String(cause)}`,
      }),
  });

const receiptOf = (receipt: Receipt): ScenarioReceipt =>
  receipt.status === "accepted"
    ? { commandId: receipt.commandId, status: receipt.status, sequence: receipt.sequence }
    : { commandId: receipt.commandId, status: receipt.status, code: receipt.rejection.code };

/** Opens the sessions that an event presupposes: the first one, or those up to the generation that it names. */
const ensureSession = Effect.fnUntraced(function* (stage: Stage, threadId: string, generation: number | undefined) {
  const { engine, writer } = stage.world();
  for (;;) {
    const state = writer.state(threadId);
    if (state === undefined || state.deleted) return;
    const current = state.session?.generation ?? 0;
    if (current > 0 && (generation === undefined || current >= generation)) return;
    // A runtime that hangs while it opens is there, and may speak; one that will not go makes the next one wait.
    yield* stage.patiently(
      engine.open(threadId, current + 1),
      () => (writer.state(threadId)?.session?.generation ?? 0) > current,
    );
    yield* stage.settle;
    if (writer.state(threadId)?.session?.generation === state.session?.generation) return;
  }
});

const handlers: Handlers = {
  command: Effect.fnUntraced(function* (stage, value, number) {
    const given = { threadId: stage.threadId, commandId: `c${number}`, ...value };
    const command = yield* reading(number, () => decodeCommand(given));
    if ("threadId" in command) stage.threadId = command.threadId;
    // A rejected opening may hang or take time: the line is over when its command is decided.
    stage.receipts.push(receiptOf(yield* stage.world().engine.dispatch(command, client)));
  }),
  event: Effect.fnUntraced(function* (stage, value, number) {
    const { threadId = stage.threadId, generation, ...said } = value;
    stage.threadId = threadId;
    yield* ensureSession(stage, threadId, generation);
    const { ingestion, writer } = stage.world();
    const event = { id: `e${number}`, payload: {}, ...said };
    const speaking = generation ?? writer.state(threadId)?.session?.generation ?? 1;
    if (said["type"] === "session.exited") stage.stub.gone(threadId, speaking);
    yield* ingestion.submit(threadId, speaking, {
      kind: "frame",
      native: { kind: "scenario", frame: { line: number } },
      events: [event],
    });
  }),
  stub: (stage, value) => Effect.sync(() => stage.stub.behave(value)),
  capabilities: (stage, value, number) =>
    Effect.map(
      reading(number, () => decodeCapabilities({ ...defaultCapabilities, ...value })),
      stage.stub.declare,
    ),
  advance: (stage, value) => stage.time.advance(value, stage.settle),
  drain: (stage) => stage.drain,
  crash: (stage, value) => (value === "replay" ? stage.replay : stage.crash),
  restart: (stage) => stage.restart,
  rebuild: (stage) => stage.world().store.rebuild,
  snapshot: (stage, value) =>
    Effect.sync(() => {
      stage.snapshots[value] = scenarioState(stage.world().rows);
    }),
  feed: Effect.fnUntraced(function* (stage, value, number) {
    const { threadId = stage.threadId, runtime, file } = value;
    const records = yield* reading(number, () => [
      ...normalizeRecords(runtime, readFileSync(resolve(stage.folder, file), "utf8")),
    ]);
    for (const { generation, record } of records) {
      yield* ensureSession(stage, threadId, generation);
      yield* stage.world().ingestion.submit(threadId, generation, record);
    }
  }),
};

/** Does what a line says; the caller lets the world settle after it. */
export const runLine = (stage: Stage, { line, number }: NumberedLine): Effect.Effect<void, Failing> => {
  const [kind] = Object.keys(line) as [LineKind];
  // The key that a line has picks the handler of exactly that key's value.
  const handle = handlers[kind] as (stage: Stage, value: unknown, number: number) => Effect.Effect<void, Failing>;
  return handle(stage, (line as Record<LineKind, unknown>)[kind], number);
};
