/** The shell of a thread from its facts, and the facts that a snapshot's shell gives. */
import type { InputView, ThreadShell, ThreadStatus, TurnView } from "@tributary/contracts";
import { activitiesOf, changesOf } from "./changes.ts";
import { newestSpoken, workOf } from "./facts.ts";
import { defined, type Ask, type ChangeFacts, type Facts, type State } from "./state.ts";
import { backward, find } from "./timeline.ts";

type Shell = ThreadShell;

/** The first that holds: archived, needs_you, working, starting, error, idle. */
const statusOf = (
  facts: Facts,
  asked: Ask | undefined,
  turn: TurnView | undefined,
  inputs: ReadonlyArray<InputView>,
): ThreadStatus => {
  const { archived, session, queueHeld } = facts;
  if (archived) return "archived";
  if (asked !== undefined) return "needs_you";
  // Handed over, or started while its turn has not been seen yet.
  const onItsWay = inputs.some(({ state }) => state === "handed_over" || state === "started");
  if (turn?.state === "running" || onItsWay) return "working";
  // A held queue waits for a person; a prompt does not wait in it.
  const nextInLine = inputs.some(
    ({ state, mode }) => state === "queued" && (queueHeld === undefined || mode === "prompt"),
  );
  if (session === "opening" || (session !== "ready" && nextInLine)) return "starting";
  return turn?.state === "failed" || turn?.state === "lost" || session === "failed" ? "error" : "idle";
};

const phaseOf = (facts: Facts, asked: Ask | undefined, turn: TurnView | undefined): Shell["phase"] => {
  if (facts.session === "opening") return { kind: "opening", since: facts.sessionAt };
  if (turn?.state !== "running") return undefined;
  const { interrupt, turnInputs } = facts;
  if (
    interrupt !== undefined &&
    (interrupt.turnId === turn.id || (interrupt.inputId !== undefined && turnInputs.includes(interrupt.inputId)))
  )
    return { kind: "interrupting", since: interrupt.at };
  if (asked !== undefined) return defined({ kind: "waiting", title: asked.title, since: asked.at });
  const newest = facts.work.reduce<Facts["work"][number] | undefined>(
    (best, one) => (best === undefined || one.position > best.position ? one : best),
    undefined,
  );
  if (newest === undefined) return { kind: "working", since: turn.startedAt };
  return defined({ kind: newest.kind, title: newest.title, since: newest.since });
};

const sessionOf = (facts: Facts, asked: Ask | undefined, activeTurnId: string | undefined): Shell["session"] => {
  const { session, generation, nativeSessionId, lastError } = facts;
  if (session === undefined) return undefined;
  const working = activeTurnId === undefined ? session : "running";
  const busy = asked === undefined ? working : "waiting";
  const state = session === "ready" ? busy : session;
  return defined({ state, generation, nativeSessionId, activeTurnId, lastError });
};

/** What was reported last, whatever it counts over. */
const usageOf = ({ usage }: Facts): Shell["usage"] =>
  Object.values(usage).reduce<Shell["usage"]>(
    (best, one) => (best === undefined || one.asOf > best.asOf ? one : best),
    undefined,
  );

export const shellOf = (state: State): Shell | undefined => {
  const { facts, inputs, turns } = state;
  if (facts === undefined) return undefined;
  const turn = turns.at(-1);
  const pending = facts.asks.filter((ask) => ask.pending);
  const asked = pending.find(({ blocking }) => blocking);
  const activeTurnId = turn?.state === "running" ? turn.id : undefined;
  const { preview } = facts;
  return defined({
    ...facts.fixed,
    title: facts.title ?? facts.promptTitle,
    titleFrom: facts.title === undefined && facts.promptTitle !== undefined ? ("prompt" as const) : undefined,
    model: facts.model,
    effort: facts.effort,
    serviceTier: facts.serviceTier,
    approvalMode: facts.approvalMode,
    interactionMode: facts.interactionMode,
    textDelivery: facts.textDelivery,
    status: { value: statusOf(facts, asked, turn, inputs), asOf: facts.statusAsOf },
    session: sessionOf(facts, asked, activeTurnId),
    phase: phaseOf(facts, asked, turn),
    activeTurnId,
    pendingRequests: pending.map(({ id, kind, title }) => defined({ id, kind, title })),
    queued: inputs.filter((input) => input.state === "queued").length,
    queueHeld: facts.queueHeld,
    unconfirmed: inputs.filter((input) => input.state === "unconfirmed").length,
    runningTasks: facts.tasks.size + facts.otherTasks,
    lastTurn: turn,
    preview: preview === undefined ? undefined : { role: preview.role, text: preview.text },
    context: facts.context,
    usage: usageOf(facts),
    changes: changesOf(facts.changes),
    lastPosition: facts.lastPosition,
    updatedAt: facts.updatedAt,
  });
};

type Opened = Pick<State, "timeline" | "turns" | "inputs" | "threadId">;

/** Requests that are shown as pending, with what their rows say of them, and those that are being answered. */
const asksOf = (shell: Shell, { timeline }: Opened): ReadonlyArray<Ask> => {
  const asks: Array<Ask> = shell.pendingRequests.map(({ id, kind, title }) => {
    const row = find(timeline, "request", id);
    const at = row?.at ?? (shell.phase?.kind === "waiting" ? shell.phase.since : shell.updatedAt);
    const blocking = row?.kind === "request" ? row.request.blocking !== false : true;
    return { id, kind, title, blocking, at, pending: true };
  });
  for (const row of backward(timeline))
    if (row.kind === "request" && row.state === "answering") {
      const { kind, title, blocking = true } = row.request;
      asks.push({ id: row.requestId, kind, title, blocking, at: row.at, pending: false });
    }
  const positionOf = ({ id }: Ask): number => find(timeline, "request", id)?.position ?? 0;
  return asks.toSorted((a, b) => positionOf(a) - positionOf(b));
};

const derivedPhases: ReadonlySet<string> = new Set(["opening", "interrupting", "waiting", "working"]);

/** What is open in the loaded rows; of what is older, what the phase says. */
const openWork = ({ phase }: Shell, { timeline }: Opened): Facts["work"] => {
  const work = [...backward(timeline)].flatMap((row) => workOf(row) ?? []);
  if (work.length > 0 || phase === undefined || derivedPhases.has(phase.kind)) return work;
  return [{ key: "older", kind: phase.kind, title: phase.title, since: phase.since, position: 0 }];
};

const changesAtOpening = (shell: Shell, state: Opened): ChangeFacts => {
  const activities = activitiesOf(state);
  const turn = state.turns.findLast(({ hasDiff }) => hasDiff === true);
  const counts = shell.changes ?? { files: 0, added: 0, removed: 0 };
  let position = 0;
  for (const row of backward(state.timeline)) if (row.turnId === turn?.id) position = row.position;
  return {
    diff: turn === undefined ? undefined : { turnId: turn.id, position, ...counts },
    activities,
    asOpened: shell.changes,
  };
};

const settled = (state: NonNullable<Shell["session"]>["state"]) =>
  state === "running" || state === "waiting" ? "ready" : state;

/** What a snapshot tells. Its rows, turns and inputs are in `state` already. */
export const openedFacts = (shell: Shell, state: Opened): Facts => {
  const { threadId, projectId, instance, cwd, createdAt, readTo, runtime, phase, session, usage, lastTurn } = shell;
  const rows = [...backward(state.timeline)];
  const tasks = new Set(rows.flatMap((row) => (row.kind === "task" && row.status === "in_progress" ? row.taskId : [])));
  const preview = newestSpoken(state);
  return {
    fixed: defined({ threadId, projectId, instance, cwd, createdAt, readTo, runtime }),
    ...(shell.titleFrom === undefined
      ? { title: shell.title, promptTitle: undefined }
      : { title: undefined, promptTitle: shell.title }),
    model: shell.model,
    effort: shell.effort,
    serviceTier: shell.serviceTier,
    approvalMode: shell.approvalMode,
    interactionMode: shell.interactionMode,
    textDelivery: shell.textDelivery,
    archived: shell.status.value === "archived",
    queueHeld: shell.queueHeld,
    generation: session?.generation ?? 0,
    session: session === undefined ? undefined : settled(session.state),
    sessionAt: phase?.kind === "opening" ? phase.since : shell.updatedAt,
    nativeSessionId: session?.nativeSessionId,
    lastError: session?.lastError,
    interrupt: phase?.kind === "interrupting" ? { at: phase.since, turnId: lastTurn?.id } : undefined,
    statusAsOf: shell.status.asOf,
    context: shell.context,
    usage: usage === undefined ? {} : { [usage.value.basis]: usage },
    asks: asksOf(shell, state),
    tasks,
    otherTasks: Math.max(0, shell.runningTasks - tasks.size),
    turnInputs: state.inputs.flatMap(({ id, turnId, mode }) =>
      turnId !== undefined && turnId === lastTurn?.id && mode !== "steer" ? id : [],
    ),
    turnStart: undefined,
    work: openWork(shell, state),
    preview: preview ?? (shell.preview === undefined ? undefined : { rowId: "", position: 0, ...shell.preview }),
    changes: changesAtOpening(shell, state),
    lastPosition: shell.lastPosition,
    updatedAt: shell.updatedAt,
  };
};
