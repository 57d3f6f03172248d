/** What the writer needs of the domain: pure functions over the state of one aggregate. */
import type { InternalCommand, ProjectCommand, StoredEvent, ThreadCommand } from "@tributary/contracts";
import type {
  ClientLookups,
  Closed,
  DecideContext,
  Decision,
  InternalContext,
  InternalDecision,
  Lookups,
  ProjectState,
  ThreadDecision,
  ThreadState,
} from "@tributary/domain";

export interface Domain {
  readonly decideThread: (
    state: ThreadState | undefined,
    command: ThreadCommand,
    context: DecideContext,
    look: ClientLookups,
  ) => ThreadDecision;
  readonly decideProject: (
    state: ProjectState | undefined,
    command: ProjectCommand,
    context: DecideContext,
  ) => Decision;
  readonly decideInternal: (
    state: ThreadState | undefined,
    command: InternalCommand,
    context: InternalContext,
    look: Lookups,
  ) => InternalDecision;
  /** Raises `version` by one. */
  readonly evolveThread: (state: ThreadState | undefined, event: StoredEvent, threadId: string) => ThreadState;
  /** Raises `version` by one. */
  readonly evolveProject: (state: ProjectState | undefined, event: StoredEvent, projectId: string) => ProjectState;
  /** Whether anything of the thread has to be looked after when the host starts. */
  readonly hasOpenWork: (state: ThreadState) => boolean;
  /** What the event ends, given the state before it. */
  readonly closedBy: (before: ThreadState, event: StoredEvent) => Closed | undefined;
}
