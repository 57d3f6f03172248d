/**
 * A visit of a lane: its journalled records are interpreted and committed with the checkpoint, in as few steps as
 * possible. What fails is undone as a whole; the memory is then brought back from the checkpoint and the journal (4.2),
 * and a record that goes on failing is refused, so that it stops nobody (I18).
 */
import { StoreError } from "@tributary/store";
import type { Journal, JournalRecord, StepTx, Writer } from "@tributary/store";
import { Clock, Effect } from "effect";
import type { Resume } from "../interpret/batch.ts";
import { prepareBlobs } from "./blobs.ts";
import type { Blobs } from "../interpret/caps.ts";
import type { Interpretable } from "../interpret/interpret.ts";
import type { ReasoningDetail } from "../interpret/interpretation.ts";
import { recordKey } from "./lane.ts";
import type { Flush, Lane } from "./lane.ts";
import { attemptsPerRecord, checkpointRecords } from "../limits.ts";
import { highestRevision } from "./live.ts";
import { emptyMemory } from "../interpret/memory.ts";
import type { Memory } from "../interpret/memory.ts";
import { restoreMemory } from "../checkpoint/restore.ts";
import { currentSteadyTime } from "../steady.ts";
import type { SteadyTime } from "../steady.ts";
import { maskable } from "./secrets.ts";
import { runLaneInStep, runLaneQuietly } from "./step.ts";
import { maskerOf } from "../text/masking.ts";

export interface VisitTools {
  readonly writer: Writer["Service"];
  readonly journal: Journal["Service"];
  readonly reasoning: ReasoningDetail;
  /** Values to mask, as `Secrets` has them. */
  readonly secretsOf: (threadId: string) => ReadonlyArray<string>;
}

/** Records read at a time when interpreting goes on after the checkpoint. */
const page = 256;

/** A store that fails is asked again after this long, twice as long each time up to the longest. */
const waitMs = 100;
const longestWaitMs = 5_000;

interface Problem {
  readonly error: StoreError;
  /** The record at which it failed, where that can be told. */
  readonly at: Interpretable | undefined;
}

const fault = (cause: unknown): StoreError =>
  cause instanceof StoreError
    ? cause
    : new StoreError({ reason: "fault", message: cause instanceof Error ? cause.message : String(cause) });

/** Runs `work`, which is synchronous; what it throws is a fault at `at`. */
const attempt = <A>(work: () => A, at: () => Interpretable | undefined): Effect.Effect<A, Problem> =>
  Effect.try({ try: work, catch: (cause): Problem => ({ error: fault(cause), at: at() }) });

const next = ({ memory }: Lane, records: ReadonlyArray<Interpretable>): Interpretable | undefined =>
  records.find((record) => record.generation !== memory.generation || record.seq > memory.seq);

const step = Effect.fnUntraced(function* (
  tools: VisitTools,
  lane: Lane,
  work: { readonly records: ReadonlyArray<Interpretable>; readonly from: Resume; readonly flush: Flush },
): Effect.fn.Return<void, Problem> {
  const { writer, journal, reasoning } = tools;
  // A batch of one names its record even where the failure comes with the commit.
  let at = work.records.length === 1 ? work.records[0] : undefined;
  let ran = false;
  const run = (tx: StepTx, blobs: Blobs, time: SteadyTime): void => {
    // The memory changes with the first run: a second one would say everything twice.
    if (ran) throw new Error("a step of ingestion was run twice");
    ran = true;
    runLaneInStep(lane, tx, { ...work, ...time, blobs, reasoning, at: (record) => (at = record ?? at) });
  };
  const committed = Effect.gen(function* () {
    const blobs = yield* prepareBlobs(journal, lane.threadId, lane.memory, work.records);
    const time = yield* currentSteadyTime;
    yield* writer.step(lane.threadId, (tx) => run(tx, blobs, time));
  });
  yield* Effect.mapError(committed, (error): Problem => ({ error, at }));
  lane.sinceCheckpoint = 0;
});

/** Whether a flush may have anything to do. */
const holdsAnything = ({ accounts, open, outputs }: Memory): boolean =>
  accounts.held > 0 || open.size > 0 || outputs.size > 0;

/** Whether a step is due although no record needs one. */
export const wantsStep = (lane: Lane, flush: Flush): boolean =>
  (flush !== "none" && holdsAnything(lane.memory)) || lane.sinceCheckpoint >= checkpointRecords;

/** Interprets what stays quiet. Returns where a step must go on; undefined when nothing is left. Throws on a fault. */
export const quietly = (
  { writer, reasoning, secretsOf }: VisitTools,
  lane: Lane,
  records: ReadonlyArray<Interpretable>,
  time: SteadyTime,
): Resume | undefined => {
  const secrets = secretsOf(lane.threadId);
  lane.masker = secrets.length === 0 ? undefined : maskerOf(maskable(secrets), lane.masker);
  lane.sinceCheckpoint += records.length;
  return runLaneQuietly(lane, records, writer, { reasoning, ...time });
};

const finished = (records: ReadonlyArray<Interpretable>): Resume => ({ record: records.length, event: 0 });

const runBatch = Effect.fnUntraced(function* (
  tools: VisitTools,
  lane: Lane,
  records: ReadonlyArray<Interpretable>,
  flush: Flush,
): Effect.fn.Return<void, Problem> {
  const time = yield* currentSteadyTime;
  const from = yield* attempt(
    () => quietly(tools, lane, records, time),
    () => next(lane, records),
  );
  if (from === undefined && !wantsStep(lane, flush)) return;
  yield* step(tools, lane, { records, from: from ?? finished(records), flush });
});

/** Generations whose records may not be interpreted yet, oldest first, each with what is dealt with. */
const generations = (lane: Lane, current: number | undefined): ReadonlyArray<readonly [number, number]> => {
  const { generation, seq, older } = lane.memory;
  const newer = new Set([...(current === undefined ? [] : [current]), ...lane.numbered.keys()]);
  // Of a generation that the checkpoint does not know: what it says now is refused, and that is all that is left of it.
  const forgotten = [...lane.begun].filter(([other]) => other < generation && !older.has(other));
  return [
    ...older,
    ...forgotten.map(([other, first]) => [other, first - 1] as const),
    ...(generation === 0 ? [] : [[generation, seq] as const]),
    ...[...newer].filter((other) => other > generation).map((other) => [other, 0] as const),
  ].toSorted(([one], [other]) => one - other);
};

/** Brings the memory back and interprets the journal to its end. */
const catchUp = Effect.fnUntraced(function* (
  tools: VisitTools,
  lane: Lane,
  flush: Flush,
  limit: number,
): Effect.fn.Return<void, Problem> {
  const { writer, journal } = tools;
  const { threadId } = lane;
  const time = yield* currentSteadyTime;
  if (lane.isLoaded) lane.revisions += highestRevision(lane) + 1;
  lane.isLoaded = false;
  // A step that was undone may have named a sequence that never was.
  lane.after = Math.min(lane.after, writer.head());
  yield* attempt(
    () => {
      const checkpoint = writer.checkpoint(threadId);
      const read = (generation: number) => (after: number, most: number) =>
        journal.read({ threadId, generation, after, limit: most });
      lane.memory =
        checkpoint === undefined
          ? emptyMemory(0)
          : restoreMemory(threadId, checkpoint, read(checkpoint.generation), time.now, time.ahead);
    },
    () => undefined,
  );
  const session = writer.state(threadId)?.session;
  for (const [generation, done] of generations(lane, session?.generation)) {
    let after = done;
    for (;;) {
      const records: ReadonlyArray<JournalRecord> = yield* attempt(
        () => journal.read({ threadId, generation, after, limit }),
        () => undefined,
      );
      const last = records.at(-1);
      if (last === undefined) break;
      yield* runBatch(tools, lane, records, "none");
      after = last.seq;
    }
  }
  lane.isLoaded = true;
  yield* runBatch(tools, lane, [], flush);
});

/** Notes what went wrong. Returns how long to wait before trying again. */
const noteProblem = (lane: Lane, { error, at }: Problem, now: number): number => {
  const { generation, seq } = at ?? { generation: lane.memory.generation, seq: lane.memory.seq };
  const same = lane.stall?.generation === generation && lane.stall.seq === seq;
  const attempts = same && lane.stall !== undefined ? lane.stall.attempts + 1 : 1;
  const since = lane.stall?.since ?? now;
  lane.stall = { generation, seq, reason: `${error.reason}: ${error.message}`, attempts, since };
  if (error.reason !== "fault") return Math.min(waitMs * 2 ** (attempts - 1), longestWaitMs);
  if (at === undefined) return attempts === 1 ? 0 : Math.min(waitMs * 2 ** attempts, longestWaitMs);
  if (attempts >= attemptsPerRecord) lane.poisoned.add(recordKey(at));
  return 0;
};

/**
 * Deals with records that are in the journal, and flushes. Ends when everything is committed, however long the store
 * fails; only a store that is shut down ends it before.
 */
export const visit = Effect.fn("ProviderRuntimeIngestion.visit")(function* (
  tools: VisitTools,
  lane: Lane,
  records: ReadonlyArray<Interpretable>,
  from: Resume | undefined,
  flush: Flush,
) {
  let work: Effect.Effect<void, Problem> =
    lane.isLoaded && from !== undefined
      ? step(tools, lane, { records, from, flush })
      : lane.isLoaded
        ? runBatch(tools, lane, [], flush)
        : catchUp(tools, lane, flush, page);
  for (;;) {
    const problem = yield* Effect.match(work, { onFailure: (failed) => failed, onSuccess: () => undefined });
    if (problem === undefined || problem.error.reason === "closed") break;
    const wait = noteProblem(lane, problem, yield* Clock.currentTimeMillis);
    if (lane.stall?.attempts === 1)
      yield* Effect.logWarning(`Ingestion of thread ${lane.threadId} failed, and goes on: ${problem.error.message}`);
    if (wait > 0) yield* Effect.sleep(wait);
    // One at a time, so that the record at fault is found.
    work = catchUp(tools, lane, flush, problem.error.reason === "fault" ? 1 : page);
  }
  lane.stall = undefined;
  lane.poisoned.clear();
});
