/** All parts as the one projector that the writer folds events into. */
import type { DomainEventType, StoredEvent } from "@tributary/contracts";
import type { Projector, RowChange } from "@tributary/store";
import { remove, type Part } from "./changes.ts";
import { activities } from "./tables/activities.ts";
import { inputs } from "./tables/inputs.ts";
import { messages } from "./tables/messages.ts";
import { notices } from "./tables/notices.ts";
import { plans } from "./tables/plans.ts";
import { projects } from "./tables/projects.ts";
import { reasoning } from "./tables/reasoning.ts";
import { requests } from "./tables/requests.ts";
import { sessions } from "./tables/sessions.ts";
import { tasks } from "./tables/tasks.ts";
import { threadChange, threadTables } from "./tables/threads.ts";
import { timeline } from "./tables/timeline.ts";
import { turns } from "./tables/turns.ts";
import { usage } from "./tables/usage.ts";

/** What a thread is made of, besides its own row. */
const threadParts: ReadonlyArray<Part> = [
  timeline,
  messages,
  reasoning,
  activities,
  tasks,
  requests,
  inputs,
  sessions,
  turns,
  plans,
  usage,
  notices,
];

const tablesOfThread = [...threadTables, ...threadParts.flatMap((part) => part.tables)];

/** Everything of the thread goes: the log keeps the sequences (I3), and a rebuild could not bring back any of it. */
const purge = (event: StoredEvent): ReadonlyArray<RowChange> =>
  tablesOfThread.map((table) => remove(table.name, { thread_id: event.streamId }));

type Handler = (event: StoredEvent) => ReadonlyArray<RowChange>;

const handlersOf = (parts: ReadonlyArray<Part>): ReadonlyMap<string, ReadonlyArray<Handler>> => {
  const handlers = new Map<string, Array<Handler>>();
  for (const { on } of parts)
    for (const type of Object.keys(on) as Array<DomainEventType>) {
      // `Handlers` ties each function to its type; the key is the type of the events it gets.
      const handler = on[type] as Handler;
      handlers.set(type, [...(handlers.get(type) ?? []), handler]);
    }
  return handlers;
};

const handlers = handlersOf([projects, ...threadParts]);

/**
 * Rows from events. Pure: the same events give the same rows, however they are grouped (I14). The number of changes per
 * event is bounded; `thread.purged` and `message.replaced` delete by key prefix.
 */
export const projector: Projector = {
  version: 1,
  tables: [...projects.tables, ...tablesOfThread],
  project: (event) => {
    const own = handlers.get(event.type);
    if (event.type.startsWith("project.")) return own?.flatMap((handle) => handle(event)) ?? [];
    if (event.type === "thread.purged") return purge(event);
    const changes: Array<RowChange> = [threadChange(event)];
    if (own !== undefined) for (const handle of own) changes.push(...handle(event));
    return changes;
  },
};
