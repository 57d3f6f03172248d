/** `given(events).when(command).thenEvents(events)`: the decider as its tests read it. */
import type {
  ClientCommand,
  DomainEvent,
  InternalCommand,
  InternalCommandType,
  RefusalReason,
  RejectionCode,
  ThreadCommand,
} from "@tributary/contracts";
import { expect } from "vitest";
import { closedBy, decideInternal, decideThread, evolveThread } from "../src/index.ts";
import type {
  ClientLookups,
  Closed,
  ClosedKind,
  DecideContext,
  InternalDecision,
  ThreadDecision,
  ThreadState,
} from "../src/index.ts";
import { now, person, runtime, threadId } from "./facts.ts";

/** What the store keeps of a thread: its state, and what is over by key. */
export interface Kept {
  readonly state: ThreadState | undefined;
  readonly look: ClientLookups;
}

export const keeper = () => {
  const closed = new Map<string, Closed>();
  let state: ThreadState | undefined;
  const look: ClientLookups = {
    attachment: (id) => (id === "a1" ? { id, name: "one.png", mimeType: "image/png" } : undefined),
    closed: <K extends ClosedKind>(kind: K, id: string) =>
      closed.get(`${kind} ${id}`) as Extract<Closed, { readonly kind: K }> | undefined,
  };
  return {
    look,
    closed,
    state: () => state,
    apply: (event: DomainEvent) => {
      if (state !== undefined) {
        const over = closedBy(state, event);
        if (over !== undefined) closed.set(`${over.kind} ${over.id}`, over);
      }
      state = evolveThread(state, event, threadId);
    },
  };
};

export const keep = (events: ReadonlyArray<DomainEvent>): Kept => {
  const kept = keeper();
  for (const event of events) kept.apply(event);
  return { state: kept.state(), look: kept.look };
};

export const stateAfter = (...events: ReadonlyArray<DomainEvent>): ThreadState => {
  const { state } = keep(events);
  if (state === undefined) throw new Error("no event was given");
  return state;
};

type Bare<C> = C extends unknown ? Omit<C, "commandId" | "threadId"> : never;
/** A client command without the ids that every one has. */
export type BareCommand = Bare<ThreadCommand>;

export const clientCommand = (command: BareCommand, commandId = "c"): ThreadCommand =>
  ({ ...command, commandId, threadId }) as Extract<ClientCommand, ThreadCommand>;

const events = (decision: ThreadDecision | InternalDecision): ReadonlyArray<DomainEvent> => {
  if (decision.ok) return decision.events;
  throw new Error(`not accepted: ${JSON.stringify("rejection" in decision ? decision.rejection : decision.reason)}`);
};

/** What a thread says to commands after some events. */
export const given = (...history: ReadonlyArray<DomainEvent>) => {
  const { state, look } = keep(history);
  return {
    state,
    /** A client's command. */
    when: (command: BareCommand, context: Partial<DecideContext> = {}) => {
      const decision = decideThread(state, clientCommand(command), { now, actor: person, ...context }, look);
      return {
        decision,
        thenEvents: (...expected: ReadonlyArray<DomainEvent>) => expect(events(decision)).toStrictEqual(expected),
        thenNothing: () => expect(events(decision)).toStrictEqual([]),
        thenMode: (mode: string) => expect(decision).toMatchObject({ ok: true, mode }),
        thenRejected: (code: RejectionCode, message?: RegExp) => {
          expect(decision).toMatchObject({ ok: false, rejection: { code } });
          if (message !== undefined && !decision.ok) expect(decision.rejection.message).toMatch(message);
          return decision.ok ? undefined : decision.rejection;
        },
      };
    },
    /** An internal command. */
    told: <T extends InternalCommandType>(command: Extract<InternalCommand, { readonly type: T }>) => {
      const decision = decideInternal(state, command, { now, actor: runtime }, look);
      return {
        decision,
        thenEvents: (...expected: ReadonlyArray<DomainEvent>) => expect(events(decision)).toStrictEqual(expected),
        thenNothing: () => expect(events(decision)).toStrictEqual([]),
        thenRefused: (reason: RefusalReason) => expect(decision).toStrictEqual({ ok: false, reason }),
      };
    },
  };
};
