/** `evolveThread`: what an event makes of a thread. */
import { isDomainEventType } from "@tributary/contracts";
import type { DomainEvent, DomainEventType, DomainPayloads } from "@tributary/contracts";
import { defined, pick } from "../plain.ts";
import type { ThreadState } from "../state.ts";
import { inputEvolvers } from "./input.ts";
import { requestEvolvers } from "./request.ts";
import { sessionEvolvers } from "./session.ts";
import { textEvolvers } from "./text.ts";
import { turnEvolvers } from "./turn.ts";
import { unchanged } from "./types.ts";
import type { Evolvers } from "./types.ts";
import { workEvolvers } from "./work.ts";

/** Events of a thread that is there. */
type ThreadEventType = Exclude<DomainEventType, "thread.created" | `project.${string}`>;

const evolvers: Evolvers<ThreadEventType> = {
  "thread.renamed": (state, { title, by }) => ({ ...state, title, titleBy: by }),
  "thread.configured": (state, payload) => ({
    ...state,
    ...pick(payload, ["model", "effort", "serviceTier", "approvalMode", "interactionMode", "textDelivery"]),
  }),
  "thread.archived": (state) => ({ ...state, archived: true }),
  "thread.unarchived": (state) => ({ ...state, archived: false }),
  "thread.deleted": (state) => ({ ...state, deleted: true }),
  "thread.purged": (state) => purge(state),
  ...sessionEvolvers,
  ...inputEvolvers,
  ...turnEvolvers,
  ...requestEvolvers,
  ...textEvolvers,
  ...workEvolvers,
  "usage.recorded": unchanged,
  "context.compacted": unchanged,
  "notice.recorded": unchanged,
  "model.rerouted": unchanged,
};

/** What is left of a purged thread: that its id is spent. Names and folders are as much of it as what was said. */
const purge = ({ threadId, archived, session, plans, queueHeld, version }: ThreadState): ThreadState => ({
  threadId,
  projectId: "",
  cwd: "",
  instance: "",
  approvalMode: "ask",
  interactionMode: "default",
  textDelivery: "streaming",
  archived,
  deleted: true,
  ...(session === undefined ? {} : { session: pick(session, ["generation", "state"]) }),
  inputs: [],
  requests: [],
  texts: [],
  activities: [],
  tasks: [],
  plans,
  ...defined({ queueHeld }),
  purged: true,
  version,
});

const create = (threadId: string, payload: DomainPayloads["thread.created"]): ThreadState => ({
  threadId,
  ...pick(payload, ["projectId", "cwd", "instance", "approvalMode", "interactionMode", "textDelivery"]),
  ...pick(payload, ["title", "model", "effort", "serviceTier"]),
  ...defined({
    titleBy: payload.title === undefined ? undefined : ("client" as const),
    nativeSessionId: payload.resume?.nativeSessionId,
  }),
  archived: false,
  deleted: false,
  inputs: [],
  requests: [],
  texts: [],
  activities: [],
  tasks: [],
  plans: [],
  version: 1,
});

const isThreadEvent = (type: DomainEventType): type is ThreadEventType =>
  type !== "thread.created" && !type.startsWith("project.");

const apply = <T extends ThreadEventType>(type: T, state: ThreadState, payload: DomainPayloads[T]): ThreadState =>
  evolvers[type](state, payload);

/**
 * The state after an event. `version` counts every event of the stream; one whose type this build does not know changes
 * nothing else (I18). Throws only when a stream does not begin with `thread.created`: then the log is damaged.
 */
export const evolveThread = (state: ThreadState | undefined, event: DomainEvent, threadId: string): ThreadState => {
  if (state === undefined) {
    if (event.type === "thread.created") return create(threadId, event.payload);
    throw new Error(`the stream of thread ${threadId} begins with ${event.type}, not with thread.created`);
  }
  const known = isDomainEventType(event.type) && isThreadEvent(event.type);
  const next = known ? apply(event.type as ThreadEventType, state, event.payload as never) : state;
  return { ...next, version: state.version + 1 };
};

/** The state of a thread that is there, after several events. */
export const evolveAll = (state: ThreadState, events: ReadonlyArray<DomainEvent>): ThreadState =>
  events.reduce((before, next) => evolveThread(before, next, state.threadId), state);
