/**
 * One group of the writer in memory: what its jobs have made, before a single flush writes all of it.
 *
 * Each job works on a `Draft`, which becomes part of the group only when the job has gone well: undoing a job that
 * faults is forgetting its draft, and costs neither a savepoint nor a statement. Reads look into the draft, then the
 * group, then what is committed.
 */
import type { DomainEvent, Refusal, StoredEvent } from "@tributary/contracts";
import type { ClientLookups, Closed, ClosedKind, Lookups, ProjectState, ThreadState } from "@tributary/domain";
import { numbered, type EventMeta } from "../events/rows.ts";
import { Fold } from "../projection/fold.ts";
import type { Projector, RowChange, TableSpec } from "../projection/Projector.ts";
import type { Checkpoint, Committed, ReadMarker, StoredReceipt } from "./Committed.ts";
import type { Domain } from "./Domain.ts";

export interface GroupEnvironment {
  readonly epoch: string;
  readonly domain: Domain;
  readonly projector: Projector;
  readonly specs: ReadonlyMap<string, TableSpec>;
  readonly committed: Committed;
}

/** Several ids as one key. Ids hold no control characters. */
export const key = (...ids: ReadonlyArray<string>): string => ids.join("\u0000");

export interface ClosedRow {
  readonly threadId: string;
  readonly closed: Closed;
}

/** What one job has made so far. */
class Draft {
  readonly events: Array<StoredEvent> = [];
  readonly changes: Array<RowChange> = [];
  readonly refusals: Array<Refusal> = [];
  readonly closed = new Map<string, ClosedRow>();
  thread: { readonly id: string; readonly state: ThreadState } | undefined;
  project: { readonly id: string; readonly state: ProjectState } | undefined;
  checkpoint: { readonly threadId: string; readonly checkpoint: Checkpoint } | undefined;
  marker: ReadMarker | undefined;
  receipt: StoredReceipt | undefined;
}

export class Group {
  /** Milliseconds since the epoch, and the same as ISO 8601: the server clock of every event of the group. */
  readonly at: number;
  readonly now: string;
  readonly events: Array<StoredEvent> = [];
  readonly threads = new Map<string, ThreadState>();
  readonly projects = new Map<string, ProjectState>();
  readonly closed = new Map<string, ClosedRow>();
  readonly receipts = new Map<string, StoredReceipt>();
  readonly checkpoints = new Map<string, Checkpoint>();
  readonly markers = new Map<string, ReadMarker>();
  readonly refusals: Array<Refusal> = [];
  readonly rows: Fold;
  private readonly env: GroupEnvironment;
  private draft = new Draft();

  constructor(env: GroupEnvironment, at: number) {
    this.env = env;
    this.at = at;
    this.now = new Date(at).toISOString();
    this.rows = new Fold(env.specs);
  }

  /** The newest sequence, the draft's included. */
  get head(): number {
    return this.env.committed.head + this.events.length + this.draft.events.length;
  }

  get touchedThreads(): ReadonlySet<string> {
    return new Set(this.threads.keys());
  }

  /** The signals that a commit of this group touches: everything, each stream with events, what a feed waits for. */
  get touchedKeys(): ReadonlyArray<string> {
    const keys = ["*", ...this.threads.keys(), ...this.projects.keys()];
    for (const { actorId } of this.markers.values()) keys.push(`read:${actorId}`);
    if (this.events.some(({ type }) => type === "thread.purged")) keys.push("purge", "attachments");
    return keys;
  }

  /** Forgets what the job has made. */
  drop(): void {
    this.draft = new Draft();
  }

  /** Takes what the job has made into the group. */
  keep(): void {
    const draft = this.draft;
    this.draft = new Draft();
    for (const event of draft.events) this.events.push(event);
    for (const change of draft.changes) this.rows.add(change);
    for (const refusal of draft.refusals) this.refusals.push(refusal);
    for (const [id, closed] of draft.closed) this.closed.set(id, closed);
    if (draft.thread !== undefined) this.threads.set(draft.thread.id, draft.thread.state);
    if (draft.project !== undefined) this.projects.set(draft.project.id, draft.project.state);
    if (draft.checkpoint !== undefined) this.checkpoints.set(draft.checkpoint.threadId, draft.checkpoint.checkpoint);
    if (draft.marker !== undefined) this.markers.set(key(draft.marker.actorId, draft.marker.threadId), draft.marker);
    if (draft.receipt !== undefined) this.receipts.set(draft.receipt.receipt.commandId, draft.receipt);
  }

  thread(threadId: string): ThreadState | undefined {
    if (this.draft.thread?.id === threadId) return this.draft.thread.state;
    return this.threads.get(threadId) ?? this.env.committed.thread(threadId);
  }

  project(projectId: string): ProjectState | undefined {
    if (this.draft.project?.id === projectId) return this.draft.project.state;
    return this.projects.get(projectId) ?? this.env.committed.project(projectId);
  }

  look(threadId: string): Lookups {
    return {
      closed: <K extends ClosedKind>(kind: K, id: string) => {
        if (this.draft.closed.size + this.closed.size > 0) {
          const text = key(threadId, kind, id);
          const found = this.draft.closed.get(text) ?? this.closed.get(text);
          // The kind is part of the key.
          if (found !== undefined) return found.closed as Extract<Closed, { readonly kind: K }>;
        }
        return this.env.committed.closed(threadId, kind, id);
      },
    };
  }

  /** What a client's command may look up beside that. */
  lookForClient(threadId: string): ClientLookups {
    return { ...this.look(threadId), attachment: (id) => this.env.committed.attachment(id) };
  }

  receipt(commandId: string): StoredReceipt | undefined {
    return this.receipts.get(commandId) ?? this.env.committed.receipt(commandId);
  }

  setReceipt(receipt: StoredReceipt): void {
    this.draft.receipt = receipt;
  }

  setCheckpoint(threadId: string, checkpoint: Checkpoint): void {
    this.draft.checkpoint = { threadId, checkpoint };
  }

  refuse(refusal: Refusal): void {
    this.draft.refusals.push(refusal);
  }

  /** Moves a person's marker, never back. */
  mark(actorId: string, threadId: string, position: number): void {
    const before = this.markers.get(key(actorId, threadId))?.position ?? this.env.committed.marker(actorId, threadId);
    if (position <= before) return;
    this.draft.marker = { actorId, threadId, position, revision: this.nextRevision(actorId) };
  }

  appendThread(threadId: string, events: ReadonlyArray<DomainEvent>, meta: EventMeta): void {
    const { domain } = this.env;
    for (const event of events) {
      const before = this.thread(threadId);
      const stored = this.number(event, threadId, before?.version ?? 0, meta);
      const closed = before === undefined ? undefined : domain.closedBy(before, stored);
      const state = domain.evolveThread(before, stored, threadId);
      expectVersion(stored, state.version);
      this.draft.thread = { id: threadId, state };
      if (closed !== undefined) this.draft.closed.set(key(threadId, closed.kind, closed.id), { threadId, closed });
    }
  }

  appendProject(projectId: string, events: ReadonlyArray<DomainEvent>, meta: EventMeta): void {
    for (const event of events) {
      const before = this.project(projectId);
      const stored = this.number(event, projectId, before?.version ?? 0, meta);
      const state = this.env.domain.evolveProject(before, stored, projectId);
      expectVersion(stored, state.version);
      this.draft.project = { id: projectId, state };
    }
  }

  private number(event: DomainEvent, streamId: string, version: number, meta: EventMeta): StoredEvent {
    const place = {
      sequence: this.head + 1,
      streamId,
      version: version + 1,
      epoch: this.env.epoch,
      occurredAt: this.now,
    };
    const stored = numbered(event, place, meta);
    for (const change of this.env.projector.project(stored)) this.draft.changes.push(change);
    this.draft.events.push(stored);
    return stored;
  }

  private nextRevision(actorId: string): number {
    let newest = this.env.committed.revision(actorId);
    for (const marker of this.markers.values()) {
      if (marker.actorId === actorId && marker.revision > newest) newest = marker.revision;
    }
    return newest + 1;
  }
}

const expectVersion = (event: StoredEvent, version: number): void => {
  if (version !== event.version) {
    throw new Error(`evolving ${event.type} left version ${version} where ${event.version} was expected`);
  }
};
