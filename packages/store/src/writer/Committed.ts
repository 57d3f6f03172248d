/**
 * What is committed, as the writer and its readers see it: states from a bounded cache or their row, the rest by key.
 * Nothing of a group is in here before its COMMIT. Synchronous reads on the writer's connection.
 */
import type { Attachment, Receipt } from "@tributary/contracts";
import type { Closed, ClosedKind, Lookups, ProjectState, ThreadState } from "@tributary/domain";
import { findAttachment } from "../attachments/rows.ts";
import type { Connection } from "../sqlite/Connection.ts";
import type { Group } from "./Group.ts";
import { Lru } from "../Lru.ts";

/** A stored receipt, with what it was the receipt of. */
export interface StoredReceipt {
  readonly fingerprint: string;
  readonly receipt: Receipt;
}

/** One person's marker in one thread; `revision` orders the changes of that person's markers. */
export interface ReadMarker {
  readonly actorId: string;
  readonly threadId: string;
  readonly position: number;
  readonly revision: number;
}

export interface Checkpoint {
  readonly generation: number;
  readonly seq: number;
  readonly interpretive: string;
}

export class Committed {
  /** The newest committed sequence. */
  head: number;
  private readonly threads: Lru<ThreadState>;
  private readonly projects: Lru<ProjectState>;
  private readonly sql;
  private readonly connection: Connection;

  constructor(connection: Connection, options: { readonly cachedThreads: number }) {
    this.connection = connection;
    this.threads = new Lru(options.cachedThreads);
    this.projects = new Lru(options.cachedThreads);
    this.sql = {
      thread: connection.prepare("SELECT state FROM thread_states WHERE thread_id = ?"),
      project: connection.prepare("SELECT state FROM project_states WHERE project_id = ?"),
      closed: connection.prepare("SELECT data FROM closed WHERE thread_id = ? AND kind = ? AND id = ?"),
      receipt: connection.prepare("SELECT fingerprint, body FROM receipts WHERE command_id = ?"),
      checkpoint: connection.prepare("SELECT generation, seq, interpretive FROM checkpoints WHERE thread_id = ?"),
      marker: connection.prepare("SELECT position, revision FROM read_markers WHERE actor_id = ? AND thread_id = ?"),
      revision: connection.prepare(
        "SELECT revision FROM read_markers WHERE actor_id = ? ORDER BY revision DESC LIMIT 1",
      ),
      open: connection.prepare("SELECT thread_id FROM thread_states WHERE open = 1 ORDER BY thread_id"),
    };
    this.head = Number(connection.prepare("SELECT max(sequence) AS head FROM events").get()?.["head"] ?? 0);
  }

  // JSON columns below hold what `flush` wrote of the same type.

  thread(threadId: string): ThreadState | undefined {
    const known = this.threads.get(threadId);
    if (known !== undefined) return known;
    const row = this.sql.thread.get(threadId);
    if (row === undefined) return undefined;
    const state = JSON.parse(String(row["state"])) as ThreadState;
    this.threads.set(threadId, state);
    return state;
  }

  project(projectId: string): ProjectState | undefined {
    const known = this.projects.get(projectId);
    if (known !== undefined) return known;
    const row = this.sql.project.get(projectId);
    if (row === undefined) return undefined;
    const state = JSON.parse(String(row["state"])) as ProjectState;
    this.projects.set(projectId, state);
    return state;
  }

  closed<K extends ClosedKind>(
    threadId: string,
    kind: K,
    id: string,
  ): Extract<Closed, { readonly kind: K }> | undefined {
    const row = this.sql.closed.get(threadId, kind, id);
    return row === undefined ? undefined : (JSON.parse(String(row["data"])) as Extract<Closed, { readonly kind: K }>);
  }

  look(threadId: string): Lookups {
    return { closed: (kind, id) => this.closed(threadId, kind, id) };
  }

  /** What an uploaded attachment is; it stays as long as a thread uses it. */
  attachment(id: string): Attachment | undefined {
    const found = findAttachment(this.connection, id);
    if (found === undefined) return undefined;
    const { name, mediaType } = found;
    return name === undefined ? { id, mimeType: mediaType } : { id, name, mimeType: mediaType };
  }

  receipt(commandId: string): StoredReceipt | undefined {
    const row = this.sql.receipt.get(commandId);
    if (row === undefined) return undefined;
    return { fingerprint: String(row["fingerprint"]), receipt: JSON.parse(String(row["body"])) as Receipt };
  }

  checkpoint(threadId: string): Checkpoint | undefined {
    const row = this.sql.checkpoint.get(threadId);
    if (row === undefined) return undefined;
    return {
      generation: Number(row["generation"]),
      seq: Number(row["seq"]),
      interpretive: String(row["interpretive"]),
    };
  }

  marker(actorId: string, threadId: string): number {
    return Number(this.sql.marker.get(actorId, threadId)?.["position"] ?? 0);
  }

  /** The newest revision of a person's markers; 0 without any. */
  revision(actorId: string): number {
    return Number(this.sql.revision.get(actorId)?.["revision"] ?? 0);
  }

  openThreads(): ReadonlyArray<string> {
    return this.sql.open.all().map((row) => String(row["thread_id"]));
  }

  /** Makes a committed group visible. */
  apply(group: Group): void {
    this.head = group.head;
    for (const [threadId, state] of group.threads) this.threads.set(threadId, state);
    for (const [projectId, state] of group.projects) this.projects.set(projectId, state);
  }
}
