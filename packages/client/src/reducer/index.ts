/**
 * Snapshot + events + live text → what an app shows. Pure: the same frames give the same view, wherever the stream was
 * cut and resumed (I10), and the view is what the server's own page says at the same sequence. Needs no schema library.
 */
import type { InputView, ThreadPage, ThreadShell, TimelineRow } from "@tributary/contracts";
import type { LiveText, PublicEvent } from "@tributary/contracts/api";
import { changedBy } from "./changes.ts";
import { run, type Draft } from "./events.ts";
import { applyFacts, createdFacts } from "./facts.ts";
import { inputHandlers, localInput, settleLocals, turnHandlers } from "./inputs.ts";
import { applyEarly, applyLive, forgetLive } from "./live.ts";
import { rowHandlers } from "./rows.ts";
import { openedFacts } from "./shell.ts";
import { defined, type LocalError, type LocalInput, type State } from "./state.ts";
import { find, oldest, prepend as prependRows, timelineOf } from "./timeline.ts";
import { committed, ThreadView, type ShownInput } from "./view.ts";

export { committed, ThreadView, type LocalError, type ShownInput };

/** A frame of a live stream, as the wire has it. Frames of other names are skipped. */
export type Frame =
  | { readonly event: "event"; readonly data: PublicEvent; readonly id?: string | undefined }
  | { readonly event: "live"; readonly data: LiveText; readonly id?: string | undefined }
  | { readonly event: "shell"; readonly data: ThreadShell; readonly id?: string | undefined }
  | { readonly event: "synced"; readonly data: { readonly sequence: number }; readonly id?: string | undefined }
  | { readonly event: "ping" | "reset"; readonly data: unknown; readonly id?: string | undefined };

export type Page = ThreadPage & { readonly cursor?: string };

const empty = (threadId: string): State => ({
  threadId,
  sequence: 0,
  cursor: undefined,
  facts: undefined,
  timeline: timelineOf([]),
  turns: [],
  inputs: [],
  plan: undefined,
  before: undefined,
  ahead: [],
  live: new Map(),
  early: [],
  locals: [],
  deleted: false,
});

/** A thread of which nothing is known: for following it from its first event, without a snapshot. */
export const start = (threadId: string): ThreadView => new ThreadView(empty(threadId));

/**
 * A thread as the server's newest page has it. `from` is a view of before, whose inputs that are still on their way are
 * kept: for beginning anew after a `reset`.
 */
export const open = (page: Page, from?: ThreadView): ThreadView => {
  const { thread, sequence, rows, turns, inputs, plan, before, cursor } = page;
  const base: State = {
    ...empty(thread.threadId),
    sequence,
    cursor,
    timeline: timelineOf(rows),
    turns,
    inputs,
    plan,
    before,
    locals: from?.state.locals ?? [],
  };
  const draft: Draft = { ...base, facts: openedFacts(thread, base) };
  settleLocals(draft);
  return new ThreadView(draft);
};

const applyEvent = (draft: Draft, event: PublicEvent): void => {
  // Whoever reconnects may hear of something twice.
  if (event.streamId !== draft.threadId || event.sequence <= draft.sequence) return;
  draft.sequence = event.sequence;
  const { type, payload } = event;
  if (type === "thread.created") draft.facts = createdFacts(event, payload as Parameters<typeof createdFacts>[1]);
  const activityId = type.startsWith("activity.")
    ? (payload as { readonly activityId: string } | null | undefined)?.activityId
    : undefined;
  const before = activityId === undefined ? undefined : find(draft.timeline, "activity", activityId);
  run(inputHandlers, draft, event);
  run(rowHandlers, draft, event);
  run(turnHandlers, draft, event);
  applyFacts(draft, event);
  if (activityId !== undefined) changedBy(draft, activityId, before);
  if (type === "turn.ended") forgetLive(draft, (payload as { readonly turnId: string }).turnId);
  if (type === "session.exited" || type === "session.released") forgetLive(draft, undefined);
  if (type === "thread.deleted") draft.deleted = true;
  if (type === "thread.purged")
    Object.assign(draft, { ...empty(draft.threadId), sequence: event.sequence, deleted: true });
  if (draft.ahead.length > 0) draft.ahead = draft.ahead.filter(({ upTo }) => upTo > event.sequence);
  settleLocals(draft);
  applyEarly(draft, false);
};

/** What no event tells: how far this person has read, and which runtime an instance is of. */
const applyShell = (draft: Draft, { threadId, readTo, runtime }: ThreadShell): void => {
  const { facts } = draft;
  if (facts === undefined || threadId !== draft.threadId) return;
  draft.facts = { ...facts, fixed: { ...facts.fixed, readTo, ...defined({ runtime }) } };
};

/** Applies one frame, or several at once. Frames of other threads, and of types that are not known, change nothing. */
export const apply = (view: ThreadView, frames: Frame | ReadonlyArray<Frame>): ThreadView => {
  const draft: Draft = { ...view.state };
  for (const frame of Array.isArray(frames) ? (frames as ReadonlyArray<Frame>) : [frames as Frame]) {
    switch (frame.event) {
      case "event":
        applyEvent(draft, frame.data);
        break;
      case "live":
        applyLive(draft, frame.data);
        break;
      case "shell":
        applyShell(draft, frame.data);
        break;
      case "synced":
        applyEarly(draft, true);
        // Whatever text is still open comes again, whole (L4).
        if (draft.live.size > 0) draft.live = new Map();
        break;
      case "ping":
        applyEarly(draft, true);
        break;
      default:
    }
    if (frame.id !== undefined) draft.cursor = frame.id;
  }
  return new ThreadView(draft);
};

/**
 * Puts a page of older rows before those that are there. `since` are the events that were applied since the page was asked
 * for: those that it does not know yet are applied to its rows.
 */
export const prepend = (view: ThreadView, page: Page, since: ReadonlyArray<PublicEvent> = []): ThreadView => {
  const { state } = view;
  const first = oldest(state.timeline)?.position ?? Number.MAX_SAFE_INTEGER;
  const part: Draft = {
    ...empty(state.threadId),
    timeline: timelineOf(page.rows.filter((row) => row.position < first)),
  };
  for (const event of since)
    if (event.sequence > page.sequence) {
      run(inputHandlers, part, event);
      run(rowHandlers, part, event);
    }
  const older = part.timeline.chunks.flat().filter((row) => row.position < first);
  const known = new Set(state.turns.map(({ id }) => id));
  return new ThreadView({
    ...state,
    timeline: prependRows(state.timeline, older),
    turns: [...page.turns.filter(({ id }) => !known.has(id)), ...state.turns],
    before: page.before,
    ahead: page.sequence > state.sequence ? [...state.ahead, { below: first, upTo: page.sequence }] : state.ahead,
  });
};

const withLocals = (view: ThreadView, locals: ReadonlyArray<LocalInput>): ThreadView => {
  const draft: Draft = { ...view.state, locals };
  settleLocals(draft);
  return new ThreadView(draft);
};

const changeLocal = (view: ThreadView, inputId: string, change: Partial<LocalInput>): ThreadView =>
  withLocals(
    view,
    view.state.locals.map((local) => (local.input.id === inputId ? { ...local, ...change } : local)),
  );

/** Shows an input at once, before the server has it. The real one takes its place. */
export const addInput = (view: ThreadView, input: Parameters<typeof localInput>[0]): ThreadView =>
  withLocals(view, [...view.state.locals.filter((local) => local.input.id !== input.id), { input: localInput(input) }]);

/** The server took it: its event has this sequence. */
export const acceptInput = (view: ThreadView, inputId: string, sequence: number): ThreadView =>
  changeLocal(view, inputId, { acceptedAt: sequence });

/** The server refused it: it is shown with why, until it is dropped. */
export const refuseInput = (view: ThreadView, inputId: string, error: LocalError): ThreadView =>
  changeLocal(view, inputId, { error });

export const dropInput = (view: ThreadView, inputId: string): ThreadView =>
  withLocals(
    view,
    view.state.locals.filter(({ input }) => input.id !== inputId),
  );

export type { InputView, LiveText, PublicEvent, ThreadPage, ThreadShell, TimelineRow };
