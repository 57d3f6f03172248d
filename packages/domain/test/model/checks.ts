/** What must hold after every decision, whatever was decided. */
import type { DomainEvent } from "@tributary/contracts";
import type { ThreadState } from "../../src/index.ts";
import type { Entry, Ledger } from "./ledger.ts";

const fail = (what: string): never => {
  throw new Error(what);
};

/** The ledger's open things, in the words of the decider's state. */
const expected = (ledger: Ledger) => ({
  version: ledger.events,
  archived: ledger.archived,
  deleted: ledger.deleted,
  session: ledger.session === undefined ? null : [Number(ledger.session.id), ledger.session.state],
  turn: ledger.turn?.id ?? null,
  held: ledger.held ?? null,
  inputs: ledger
    .inLineOrder()
    .filter(({ state }) => ["queued", "handed_over", "started", "unconfirmed", "failed"].includes(state))
    .map(({ id, state, mode, turnId }) => [id, state, mode, state === "started" ? (turnId ?? null) : null]),
  requests: ledger.in("request", "pending", "answering").map(({ id, state }) => [id, state]),
  texts: ledger.in("text", "open").map(({ id, text = "" }) => [id, text.length]),
  activities: ledger.in("activity", "open").map(({ id }) => id),
  tasks: ledger.in("task", "open").map(({ id }) => id),
  plans: ledger.in("plan", "proposed").map(({ id }) => id),
  interrupt:
    ledger.interrupt === undefined
      ? null
      : [ledger.interrupt.turnId ?? null, ledger.interrupt.inputId ?? null, ledger.interrupt.step],
});

const seen = (state: ThreadState): ReturnType<typeof expected> => ({
  version: state.version,
  archived: state.archived,
  deleted: state.deleted,
  session: state.session === undefined ? null : [state.session.generation, state.session.state],
  turn: state.turn?.turnId ?? null,
  held: state.queueHeld ?? null,
  inputs: state.inputs.map(({ inputId, state: at, mode, turnId }) => [
    inputId,
    at,
    mode,
    at === "started" ? (turnId ?? null) : null,
  ]),
  requests: state.requests.map(({ requestId, state: at }) => [requestId, at]),
  texts: state.texts.map(({ id, length }) => [id, length]),
  activities: state.activities.map(({ activityId }) => activityId),
  tasks: state.tasks.map(({ taskId }) => taskId),
  plans: [...state.plans],
  interrupt:
    state.interrupt === undefined
      ? null
      : [state.interrupt.turnId ?? null, state.interrupt.inputId ?? null, state.interrupt.step],
});

/** The state is what the ledger says is open, in the same words. */
export const checkState = (state: ThreadState, ledger: Ledger): void => {
  const [want, have] = [JSON.stringify(expected(ledger)), JSON.stringify(seen(state))];
  if (want !== have) fail(`state differs\n  ledger: ${want}\n  state:  ${have}`);
};

const openWork = (ledger: Ledger): ReadonlyArray<Entry> => [
  ...ledger.in("turn", "running"),
  ...ledger.in("text", "open"),
  ...ledger.in("activity", "open"),
  ...ledger.in("task", "open"),
  ...ledger.in("request", "pending", "answering"),
  ...ledger.in("input", "handed_over", "started"),
];

/** I8, I7's second half, and the queue's own rules. */
export const checkInvariants = (ledger: Ledger): void => {
  const open = ledger.live ? [] : openWork(ledger);
  if (open.length > 0) fail(`open without a session (I8): ${open.map(({ kind, id }) => `${kind} ${id}`).join(", ")}`);
  if (!ledger.live && ledger.interrupt !== undefined) fail("an interrupt of nothing");
  if (
    ledger.held !== undefined &&
    !ledger.deleted &&
    !ledger.in("input", "queued").some(({ mode }) => mode !== "prompt")
  )
    fail("a queue is held in which nothing waits");
  const background = ledger.in("task", "open").filter((task) => task.background === true && task.path !== "");
  const livesOn = (path = ""): boolean =>
    background.some((task) => path === task.path || path.startsWith(`${task.path}/`));
  for (const entry of [
    ...ledger.in("text", "open"),
    ...ledger.in("activity", "open"),
    ...ledger.in("request", "pending"),
  ])
    if (
      entry.turnId !== undefined &&
      entry.turnId !== ledger.turn?.id &&
      !(entry.kind !== "text" && livesOn(entry.path))
    )
      fail(`${entry.kind} ${entry.id} is open under turn ${entry.turnId}, which is over (I8)`);
  const flights = ledger.in("input", "handed_over").filter(({ mode }) => mode !== "steer");
  if (flights.length > 1) fail("two prompts in flight");
};

const turnOf = (ledger: Ledger, event: DomainEvent): string | undefined => {
  const payload: Readonly<Record<string, unknown>> = event.payload;
  for (const [kind, field] of [
    ["text", "messageId"],
    ["text", "reasoningId"],
    ["activity", "activityId"],
    ["task", "taskId"],
    ["request", "requestId"],
  ] as const)
    if (payload[field] !== undefined) return ledger.get(kind, String(payload[field]))?.turnId;
  return event.type === "turn.ended" || event.type === "turn.started" ? event.payload.turnId : undefined;
};

/** Commands that settle more than the turn they name. */
const wide = /^(session\.|thread\.delete$)/;

/** I6: what a command says of one turn changes no other one. */
export const checkTurns = (
  ledger: Ledger,
  command: { readonly type: string },
  activeBefore: string | undefined,
  events: ReadonlyArray<DomainEvent>,
): void => {
  if (wide.test(command.type)) return;
  const touched = new Set(events.map((event) => turnOf(ledger, event)).filter((turnId) => turnId !== undefined));
  if (command.type === "turn.start") {
    if (activeBefore !== undefined) touched.delete(activeBefore);
  } else if (command.type === "task.end") {
    // The end of a background task settles what it kept alive under turns that are over, never the active one.
    const own = events.at(-1);
    for (const event of events)
      if (event !== own && activeBefore !== undefined && turnOf(ledger, event) === activeBefore)
        fail(`task.end changed the active turn (I6): ${JSON.stringify(event)}`);
    return;
  }
  if (touched.size > 1) fail(`${command.type} changed turns ${[...touched].join(" and ")} (I6)`);
};

/**
 * Freezes a value through and through, so that a decider or evolver which writes to what it was given throws; and sees
 * that it is plain JSON, where a key without a value is absent. What is frozen was seen before.
 */
export const freeze = <A>(value: A, at: string): A => {
  if (value === undefined) fail(`${at} is undefined: absent keys are absent`);
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const [key, field] of Object.entries(value)) freeze(field, `${at}.${key}`);
  return value;
};
