/** Rows of attachments. An id names what somebody uploaded; several ids may share one content. */
import type { StoredEvent } from "@tributary/contracts";
import type { Connection, Row } from "../sqlite/Connection.ts";

export interface StoredAttachment {
  readonly id: string;
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly hash: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** A label for people; never part of a path. */
  readonly name: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The client that uploaded it. */
  readonly owner: string;
}

const attachmentOf = (row: Row): StoredAttachment => ({
  id: String(row["id"]),
  hash: String(row["hash"]),
  mediaType: String(row["media_type"]),
  size: Number(row["size"]),
  name: row["name"] === null ? undefined : String(row["name"]),
  createdAt: Number(row["created_at"]),
  owner: String(row["owner"]),
});

const columns = "id, hash, media_type, size, name, created_at, owner";

export const findAttachment = (connection: Connection, id: string): StoredAttachment | undefined => {
  const row = connection.prepare(`SELECT ${columns} FROM attachments WHERE id = ?`).get(id);
  return row === undefined ? undefined : attachmentOf(row);
};

export const insertAttachment = (connection: Connection, one: StoredAttachment): void => {
  connection
    .prepare(`INSERT INTO attachments (${columns}, unused_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(one.id, one.hash, one.mediaType, one.size, one.name ?? null, one.createdAt, one.owner, one.createdAt);
};

/** Whether a content belongs to any attachment. */
export const isContentUsed = (connection: Connection, hash: string): boolean =>
  connection.prepare("SELECT 1 AS one FROM attachments WHERE hash = ? LIMIT 1").get(hash) !== undefined;

/** What all contents take, in bytes; one that several attachments share counts once. Reads all rows. */
export const contentBytes = (connection: Connection): number =>
  Number(
    connection
      .prepare("SELECT sum(size) AS bytes FROM (SELECT max(size) AS size FROM attachments GROUP BY hash)")
      .get()?.["bytes"] ?? 0,
  );

export const allAttachments = (connection: Connection): ReadonlyArray<StoredAttachment> =>
  connection.prepare(`SELECT ${columns} FROM attachments ORDER BY id`).all().map(attachmentOf);

/** Deletes one that no thread uses; the hash of its content if there was one to delete. */
export const deleteUnused = (connection: Connection, id: string): string | undefined => {
  const row = connection
    .prepare("DELETE FROM attachments WHERE id = ? AND unused_since IS NOT NULL RETURNING hash")
    .get(id);
  return row === undefined ? undefined : String(row["hash"]);
};

/** Ids of attachments that no thread has used since before this time. */
export const unusedBefore = (connection: Connection, time: number, limit: number): ReadonlyArray<string> =>
  connection
    .prepare("SELECT id FROM attachments WHERE unused_since <= ? LIMIT ?")
    .all(time, limit)
    .map((row) => String(row["id"]));

export const isAnyUnused = (connection: Connection): boolean =>
  connection.prepare("SELECT 1 AS one FROM attachments WHERE unused_since >= 0 LIMIT 1").get() !== undefined;

/**
 * Keeps in step, in the transaction of the events, which threads use which attachments: from the input that names one to
 * the purge of the thread. What only the thread used is unused since ever, so the next sweep takes it.
 */
export const recordUses = (connection: Connection, event: StoredEvent): void => {
  const threadId = event.streamId;
  if (event.type === "input.queued") {
    for (const { id } of event.payload.attachments ?? []) {
      connection
        .prepare("INSERT INTO attachment_uses (thread_id, attachment_id) VALUES (?, ?) ON CONFLICT DO NOTHING")
        .run(threadId, id);
      connection.prepare("UPDATE attachments SET unused_since = NULL WHERE id = ?").run(id);
    }
  } else if (event.type === "thread.purged") {
    connection
      .prepare(
        `UPDATE attachments SET unused_since = 0
          WHERE id IN (SELECT attachment_id FROM attachment_uses WHERE thread_id = ?1)
            AND NOT EXISTS (SELECT 1 FROM attachment_uses AS u WHERE u.attachment_id = attachments.id AND u.thread_id <> ?1)`,
      )
      .run(threadId);
    connection.prepare("DELETE FROM attachment_uses WHERE thread_id = ?").run(threadId);
  }
};
