/**
 * Writes a group, inside its transaction. One statement for each event, receipt, changed row and touched thread: what a
 * command costs does not depend on how much is stored (I12).
 */
import { recordUses } from "../attachments/rows.ts";
import { cellsOf, columns } from "../events/rows.ts";
import { makeRowWriter } from "../projection/RowWriter.ts";
import type { TableSpec } from "../projection/Projector.ts";
import type { Connection } from "../sqlite/Connection.ts";
import type { Domain } from "./Domain.ts";
import type { Group } from "./Group.ts";

/** Name in `positions` of the erasing of a purged thread, which goes on after its commit (see purge.ts). */
export const purgeName = (threadId: string): string => `purge:${threadId}`;

export const makeFlush = (
  connection: Connection,
  specs: ReadonlyMap<string, TableSpec>,
  domain: Domain,
): ((group: Group) => void) => {
  const sql = {
    event: connection.prepare(
      `INSERT INTO events (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ),
    thread: connection.prepare(
      "INSERT INTO thread_states (thread_id, state, open) VALUES (?, ?, ?) " +
        "ON CONFLICT (thread_id) DO UPDATE SET state = excluded.state, open = excluded.open",
    ),
    project: connection.prepare(
      "INSERT INTO project_states (project_id, state) VALUES (?, ?) " +
        "ON CONFLICT (project_id) DO UPDATE SET state = excluded.state",
    ),
    closed: connection.prepare(
      "INSERT INTO closed (thread_id, kind, id, data) VALUES (?, ?, ?, ?) " +
        "ON CONFLICT (thread_id, kind, id) DO UPDATE SET data = excluded.data",
    ),
    receipt: connection.prepare("INSERT INTO receipts (command_id, fingerprint, body, created_at) VALUES (?, ?, ?, ?)"),
    checkpoint: connection.prepare(
      "INSERT INTO checkpoints (thread_id, generation, seq, interpretive) VALUES (?, ?, ?, ?) " +
        "ON CONFLICT (thread_id) DO UPDATE SET " +
        "generation = excluded.generation, seq = excluded.seq, interpretive = excluded.interpretive",
    ),
    refusal: connection.prepare(
      "INSERT INTO refusals (thread_id, generation, seq, type, reason, events) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    refusalCount: connection.prepare(
      "INSERT INTO refusal_counts (thread_id, reason, count) VALUES (?, ?, ?) " +
        "ON CONFLICT (thread_id, reason) DO UPDATE SET count = count + excluded.count",
    ),
    marker: connection.prepare(
      "INSERT INTO read_markers (actor_id, thread_id, position, revision) VALUES (?, ?, ?, ?) " +
        "ON CONFLICT (actor_id, thread_id) DO UPDATE SET position = excluded.position, revision = excluded.revision",
    ),
    purge: connection.prepare("INSERT INTO positions (name, value) VALUES (?, 0) ON CONFLICT (name) DO NOTHING"),
  };
  const rows = makeRowWriter(connection, "live", specs);

  const flushRest = (group: Group): void => {
    for (const [threadId, state] of group.threads) {
      sql.thread.run(threadId, JSON.stringify(state), domain.hasOpenWork(state) ? 1 : 0);
    }
    for (const [projectId, state] of group.projects) sql.project.run(projectId, JSON.stringify(state));
    for (const { threadId, closed } of group.closed.values()) {
      sql.closed.run(threadId, closed.kind, closed.id, JSON.stringify(closed));
    }
    rows.flush(group.rows);
    for (const { receipt, fingerprint } of group.receipts.values()) {
      sql.receipt.run(receipt.commandId, fingerprint, JSON.stringify(receipt), group.at);
    }
    for (const [threadId, { generation, seq, interpretive }] of group.checkpoints) {
      sql.checkpoint.run(threadId, generation, seq, interpretive);
    }
    for (const { threadId, generation, seq, type, reason, events = 1 } of group.refusals) {
      sql.refusal.run(threadId, generation, seq, type, reason, events);
      sql.refusalCount.run(threadId, reason, events);
    }
    for (const { actorId, threadId, position, revision } of group.markers.values()) {
      sql.marker.run(actorId, threadId, position, revision);
    }
  };

  return (group) => {
    for (const event of group.events) {
      sql.event.run(...cellsOf(event));
      recordUses(connection, event);
      if (event.type === "thread.purged") sql.purge.run(purgeName(event.streamId));
    }
    const isErasing = group.events.some(({ type }) => type === "thread.purged");
    if (isErasing) connection.erasing(() => flushRest(group));
    else flushRest(group);
  };
};
