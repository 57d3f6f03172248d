import type { Actor, ClientCommand, InternalCommand, Receipt, RecordPosition, Refusal } from "@tributary/contracts";
import type { DecideContext, InternalDecision, Lookups, ProjectState, ThreadState } from "@tributary/domain";
import { Clock, Context, Deferred, Effect, Exit, type Scope } from "effect";
import type { Signals } from "../events/Signals.ts";
import { makeGroupLoop } from "../GroupLoop.ts";
import type { Projector, TableSpec } from "../projection/Projector.ts";
import type { Connection } from "../sqlite/Connection.ts";
import { reasonOf, StoreError, storeError } from "../StoreError.ts";
import { fingerprint } from "./canonical.ts";
import { Committed, type Checkpoint } from "./Committed.ts";
import type { Domain } from "./Domain.ts";
import { makeFlush } from "./flush.ts";
import { Group } from "./Group.ts";
import { repeatStep, runCommand, runStep, streamOf, type GroupedJob, type StepJob, type WriterJob } from "./jobs.ts";

/** What is known of the origin of the events that one decision makes. */
export interface Origins {
  readonly actor: Actor;
  readonly record?: RecordPosition;
  readonly correlationId?: string;
  readonly causationId?: string;
}

/**
 * One step of a thread inside a group's transaction. Synchronous; everything it does commits together or not at all.
 * If it throws, it alone is undone and its effect fails with `fault`.
 */
export interface StepTx {
  readonly threadId: string;
  /** Server clock of the group, ISO 8601. */
  readonly now: string;
  /** With everything that this group and this step did before. Undefined: no such thread. */
  readonly state: () => ThreadState | undefined;
  /** The newest sequence, with everything that this group and this step did before: of the event just decided. */
  readonly head: () => number;
  readonly look: Lookups;
  /** Decides and, when accepted, appends and evolves at once. */
  readonly decide: (command: InternalCommand, origins: Origins) => InternalDecision;
  /**
   * Up to which journal record (`seq`, inclusive) of this generation everything has been interpreted, with the
   * interpretive state at that point (JSON text).
   */
  readonly checkpoint: (generation: number, seq: number, interpretive: string) => void;
  /** Records and counts a refusal (4.3, I5). */
  readonly refuse: (refusal: Refusal) => void;
}

/** The one writer of a data folder: takes waiting work in groups, one synchronous transaction a group. */
export class Writer extends Context.Service<
  Writer,
  {
    /**
     * Decides a client command with its receipt (I1, I2). Resolves after COMMIT. The same commandId again gives the
     * same receipt; with another body, a `command_id_conflict` rejection that is not stored.
     */
    readonly dispatch: (command: ClientCommand, context: DecideContext) => Effect.Effect<Receipt, StoreError>;
    /** Runs one step of a thread (ingestion, reactors, reconciliation). Resolves after COMMIT with what it returned. */
    readonly step: <A>(threadId: string, run: (tx: StepTx) => A) => Effect.Effect<A, StoreError>;
    /** The committed state of a thread, from the cache or its row. Synchronous read. */
    readonly state: (threadId: string) => ThreadState | undefined;
    readonly project: (projectId: string) => ProjectState | undefined;
    /** Committed lookups by key, of one thread. Synchronous reads. */
    readonly look: (threadId: string) => Lookups;
    readonly checkpoint: (threadId: string) => Checkpoint | undefined;
    /** The newest committed sequence; 0 for an empty log. */
    readonly head: () => number;
    /** Threads with anything open: a session that is not over, inputs, requests, tasks, an interrupt. */
    readonly openThreads: () => ReadonlyArray<string>;
  }
>()("tributary/store/Writer") {}

/** Runs statements in a write transaction of their own, in turn with the groups. */
export type RunSql = <A>(run: (connection: Connection) => A) => Effect.Effect<A, StoreError>;

export interface WriterOptions {
  readonly connection: Connection;
  readonly epoch: string;
  readonly domain: Domain;
  readonly projector: Projector;
  readonly specs: ReadonlyMap<string, TableSpec>;
  readonly signals: Signals["Service"];
  /** Thread states kept in memory, default 2,000. */
  readonly cachedThreads?: number;
}

/** A group ends with so many jobs, or after so much time: node:sqlite blocks the event loop meanwhile. */
const mostJobs = 256;
const mostMilliseconds = 4;

/** The writer, and the way for the store's own statements through it. */
export const makeWriter = (
  options: WriterOptions,
): Effect.Effect<{ readonly writer: Writer["Service"]; readonly runSql: RunSql }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { connection, domain, signals } = options;
    const clock = yield* Clock.Clock;
    const committed = new Committed(connection, { cachedThreads: options.cachedThreads ?? 2_000 });
    const env = { ...options, committed };
    const flush = makeFlush(connection, options.specs, domain);

    /** Committed groups of which nobody has been told yet. */
    let untold: Array<Group> = [];

    /** Runs jobs until the time is up and commits them together; throws when nothing was committed. */
    const commit = (jobs: ReadonlyArray<GroupedJob>, run: (group: Group, job: GroupedJob) => void): void => {
      const started = performance.now();
      const group = new Group(env, clock.currentTimeMillisUnsafe());
      connection.immediate(() => {
        for (const job of jobs) {
          run(group, job);
          if (performance.now() - started > mostMilliseconds) break;
        }
        flush(group);
      });
      committed.apply(group);
      untold.push(group);
    };

    /**
     * Who waits for a result or a signal goes on at once, inside these calls. So listeners, which only note what to do,
     * come first; then the callers get their results; then readers are woken.
     */
    const publish = (jobs: ReadonlyArray<GroupedJob>): void => {
      const groups = untold;
      untold = [];
      for (const group of groups) signals.committed(group.touchedThreads);
      for (const job of jobs) if (job.outcome !== undefined) settle(job, job.outcome);
      for (const group of groups) signals.touch(group.touchedKeys);
    };

    /** Runs one job; if it throws, it alone is undone. What the disk could not do is thrown on. */
    const runFirst = (group: Group, job: GroupedJob): void => {
      try {
        const result = job.kind === "command" ? runCommand(group, domain, job) : runStep(group, domain, job);
        // The result is of the job's own type: a receipt for a command, whatever a step returns for a step.
        job.outcome = Exit.succeed(result) as typeof job.outcome;
      } catch (cause) {
        job.outcome = Exit.fail(storeError(`${nameOf(job)} failed`, cause));
        if (reasonOf(cause) !== "fault") throw cause;
        return group.drop();
      }
      group.keep();
    };

    const repeat = (group: Group, job: StepJob): void => {
      repeatStep(group, domain, job);
      group.keep();
    };

    /**
     * After a group could not be written for a reason that lies in one of its jobs (a row that breaks its table's
     * rules), each is done again in a transaction of its own, so that only the one at fault fails. A step's function is
     * not called twice, it may have changed its own memory: what it asked for is asked for again. That is sound as long
     * as its thread is as it was, so after a failure the thread's later steps fail too and are rebuilt by their owner.
     *
     * Chosen over a savepoint a command: those cost two statements each, always, and could not tell whose row is at
     * fault, because rows are written once for the whole group.
     */
    const redo = (jobs: ReadonlyArray<GroupedJob>): void => {
      const spoilt = new Set<string>();
      for (const job of jobs) {
        const stream = streamOf(job);
        const hasFailed = job.outcome !== undefined && Exit.isFailure(job.outcome);
        if (job.kind === "step" && !hasFailed && spoilt.has(stream)) {
          const message = `An earlier step of thread ${stream} was undone: do this one again.`;
          job.outcome = Exit.fail(new StoreError({ reason: "fault", message }));
        } else if (job.kind === "command" || !hasFailed) {
          try {
            commit([job], (group) => (job.kind === "command" ? runFirst(group, job) : repeat(group, job)));
          } catch (cause) {
            job.outcome = Exit.fail(storeError(`${nameOf(job)} failed`, cause));
          }
        }
        if (job.outcome !== undefined && Exit.isFailure(job.outcome)) spoilt.add(stream);
      }
    };

    /** Afterwards every job that ran has its outcome. */
    const runGroup = (jobs: ReadonlyArray<GroupedJob>): void => {
      try {
        commit(jobs, runFirst);
      } catch (cause) {
        const error = storeError("The commands could not be stored", cause);
        const ran = jobs.filter((job) => job.outcome !== undefined);
        if (error.reason === "fault" && ran.length > 0) return redo(ran);
        // None ran: the transaction could not even begin, and would not for the others of the group either.
        for (const job of ran.length > 0 ? ran : jobs) job.outcome = Exit.fail(error);
      }
    };

    const run = (jobs: ReadonlyArray<WriterJob>): number => {
      const [first] = jobs;
      if (first?.kind === "sql") {
        Deferred.doneUnsafe(first.done, runSqlJob(connection, first.run));
        return 1;
      }
      const grouped: Array<GroupedJob> = [];
      for (const job of jobs) {
        if (job.kind === "sql") break;
        grouped.push(job);
      }
      runGroup(grouped);
      const ran = grouped.findIndex((job) => job.outcome === undefined);
      const handled = ran === -1 ? grouped : grouped.slice(0, ran);
      publish(handled);
      return handled.length;
    };

    const loop = yield* makeGroupLoop<WriterJob>({ most: mostJobs, run });

    const submit = <A>(make: (done: Deferred.Deferred<A, StoreError>) => WriterJob): Effect.Effect<A, StoreError> =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<A, StoreError>();
        return Effect.andThen(loop.offer(make(done)), Deferred.await(done));
      });

    const writer: Writer["Service"] = {
      dispatch: (command, context) =>
        submit<Receipt>((done) => ({
          kind: "command",
          command,
          context,
          fingerprint: fingerprint(command),
          done,
          outcome: undefined,
        })),
      step: <A>(threadId: string, run: (tx: StepTx) => A) =>
        // The job's result is what `run` returned.
        submit<unknown>((done) => ({
          kind: "step",
          threadId,
          run,
          asked: [],
          done,
          outcome: undefined,
        })) as Effect.Effect<A, StoreError>,
      state: (threadId) => committed.thread(threadId),
      project: (projectId) => committed.project(projectId),
      look: (threadId) => committed.look(threadId),
      checkpoint: (threadId) => committed.checkpoint(threadId),
      head: () => committed.head,
      openThreads: () => committed.openThreads(),
    };
    const runSql: RunSql = <A>(run: (connection: Connection) => A) =>
      submit<unknown>((done) => ({ kind: "sql", run, done, outcome: undefined })) as Effect.Effect<A, StoreError>;
    return { writer, runSql };
  });

const nameOf = (job: GroupedJob): string =>
  job.kind === "command"
    ? `Command ${job.command.type} (${job.command.commandId})`
    : `A step of thread ${job.threadId}`;

const runSqlJob = (
  connection: Connection,
  run: (connection: Connection) => unknown,
): Exit.Exit<unknown, StoreError> => {
  try {
    return Exit.succeed(connection.immediate(() => run(connection)));
  } catch (cause) {
    return Exit.fail(storeError("The database could not be changed", cause));
  }
};

const settle = (job: GroupedJob, outcome: Exit.Exit<unknown, StoreError>): void => {
  // A union of jobs hides that each outcome is of its own deferred's type.
  Deferred.doneUnsafe(job.done as Deferred.Deferred<unknown, StoreError>, outcome);
};
