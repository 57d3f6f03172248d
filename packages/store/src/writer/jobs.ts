/** What the writer can be asked to do, and how one job runs against a group. Synchronous; throws only for faults. */
import {
  reject,
  type ClientCommand,
  type InternalCommand,
  type ProjectCommand,
  type Receipt,
} from "@tributary/contracts";
import type { DecideContext, ThreadDecision } from "@tributary/domain";
import type { Deferred, Exit } from "effect";
import type { Connection } from "../sqlite/Connection.ts";
import type { StoreError } from "../StoreError.ts";
import type { Checkpoint } from "./Committed.ts";
import type { Domain } from "./Domain.ts";
import type { Group } from "./Group.ts";
import type { Origins, StepTx } from "./Writer.ts";

interface Job<A> {
  readonly done: Deferred.Deferred<A, StoreError>;
  /** Set when it has run; given to the caller after the commit. */
  outcome: Exit.Exit<A, StoreError> | undefined;
}

/** A client command. */
export interface CommandJob extends Job<Receipt> {
  readonly kind: "command";
  readonly command: ClientCommand;
  readonly context: DecideContext;
  readonly fingerprint: string;
}

/** A step of a thread. What it asked for is kept until it is committed, so that it can be done again without it. */
export interface StepJob extends Job<unknown> {
  readonly kind: "step";
  readonly threadId: string;
  readonly run: (tx: StepTx) => unknown;
  readonly asked: Array<(group: Group, domain: Domain) => void>;
}

/** Statements in a transaction of their own: processes, retention, rebuilding, purging. */
export interface SqlJob extends Job<unknown> {
  readonly kind: "sql";
  readonly run: (connection: Connection) => unknown;
}

export type GroupedJob = CommandJob | StepJob;
export type WriterJob = GroupedJob | SqlJob;

const isProjectCommand = (command: ClientCommand): command is ProjectCommand =>
  command.type === "project.create" || command.type === "project.update" || command.type === "project.delete";

/** The stream whose state a job reads and writes. */
export const streamOf = (job: GroupedJob): string => {
  if (job.kind === "step") return job.threadId;
  return isProjectCommand(job.command) ? job.command.projectId : job.command.threadId;
};

export const runCommand = (group: Group, domain: Domain, job: CommandJob): Receipt => {
  const { command, context, fingerprint } = job;
  const known = group.receipt(command.commandId);
  if (known !== undefined) {
    return known.fingerprint === fingerprint ? known.receipt : conflict(command.commandId);
  }
  const receipt = decide(group, domain, command, context);
  group.setReceipt({ fingerprint, receipt });
  return receipt;
};

const conflict = (commandId: string): Receipt => ({
  status: "rejected",
  commandId,
  rejection: reject(
    "command_id_conflict",
    `Command id ${commandId} was already used for something else: send this one under a new id.`,
  ),
});

const decide = (group: Group, domain: Domain, command: ClientCommand, context: DecideContext): Receipt => {
  const { commandId } = command;
  const meta = { actor: context.actor, commandId, correlationId: commandId, causationId: commandId };
  if (isProjectCommand(command)) {
    const decision = domain.decideProject(group.project(command.projectId), command, context);
    if (decision.ok) group.appendProject(command.projectId, decision.events, meta);
    return receiptOf(group, commandId, decision);
  }
  const { threadId } = command;
  const decision = domain.decideThread(group.thread(threadId), command, context, group.lookForClient(threadId));
  if (decision.ok) group.appendThread(threadId, decision.events, meta);
  // Reading must not write history: a marker is a row, not an event. Nobody has read what is not there yet.
  if (decision.ok && command.type === "thread.read") {
    group.mark(context.actor.id, threadId, Math.min(command.upTo, group.head));
  }
  return receiptOf(group, commandId, decision);
};

const receiptOf = (group: Group, commandId: string, decision: ThreadDecision): Receipt => {
  if (!decision.ok) return { status: "rejected", commandId, rejection: decision.rejection };
  return {
    status: "accepted",
    commandId,
    sequence: group.head,
    ...(decision.mode === undefined ? {} : { mode: decision.mode }),
    ...(decision.applies === undefined ? {} : { applies: decision.applies }),
  };
};

/** Decides one internal command and, when accepted, appends what it makes. */
const decideInternal = (group: Group, domain: Domain, threadId: string, command: InternalCommand, origins: Origins) => {
  const context = { now: group.now, actor: origins.actor };
  const decision = domain.decideInternal(group.thread(threadId), command, context, group.look(threadId));
  if (decision.ok) group.appendThread(threadId, decision.events, origins);
  return decision;
};

export const runStep = (group: Group, domain: Domain, job: StepJob): unknown => {
  const { threadId, asked } = job;
  let isOver = false;
  const during = <A>(act: () => A): A => {
    if (isOver) throw new Error("a step's transaction was used after the step had returned");
    return act();
  };
  const again = (act: (group: Group, domain: Domain) => void): void => {
    asked.push(act);
    act(group, domain);
  };
  try {
    return job.run({
      threadId,
      now: group.now,
      state: () => during(() => group.thread(threadId)),
      head: () => during(() => group.head),
      look: group.look(threadId),
      decide: (command, origins) =>
        during(() => {
          asked.push((later, domain) => void decideInternal(later, domain, threadId, command, origins));
          return decideInternal(group, domain, threadId, command, origins);
        }),
      checkpoint: (generation, seq, interpretive) =>
        during(() => {
          const checkpoint: Checkpoint = { generation, seq, interpretive };
          again((target) => target.setCheckpoint(threadId, checkpoint));
        }),
      refuse: (refusal) => during(() => again((target) => target.refuse(refusal))),
    });
  } finally {
    isOver = true;
  }
};

/** Does again what a step asked for, against the same state of its thread, without calling it. */
export const repeatStep = (group: Group, domain: Domain, job: StepJob): void => {
  for (const act of job.asked) act(group, domain);
};
