import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { compare, scaled, timed, withFolder, type BenchContext, type Timing } from "./harness.ts";

/** How raw SQLite is driven. */
export interface RawWrites {
  /** An empty folder; the database file is made in it. */
  readonly folder: string;
  readonly commands: number;
  /** Commands in one transaction. */
  readonly group: number;
  readonly synchronous: "FULL" | "NORMAL";
}

/** What one command of a busy thread writes: the load that the store's own writer is measured with. */
export const perCommand = { events: 2, rows: 8, receipts: 1 } as const;

const schema = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY, stream_id TEXT NOT NULL, version INTEGER NOT NULL, event_id TEXT NOT NULL,
    type TEXT NOT NULL, occurred_at INTEGER NOT NULL, payload TEXT NOT NULL, UNIQUE (stream_id, version)
  ) STRICT;
  CREATE TABLE rows (thread_id TEXT NOT NULL, row_id TEXT NOT NULL, position INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (thread_id, row_id)) STRICT, WITHOUT ROWID;
  CREATE TABLE receipts (command_id TEXT PRIMARY KEY, status TEXT NOT NULL, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

const payload = JSON.stringify({
  messageId: "t1/-/item#0",
  offset: 4096,
  text: "one piece of an answer, as it comes. ".repeat(3),
});

/**
 * The limit for every writer here: the same rows through bare `node:sqlite`, prepared statements, WAL, a group of
 * commands a transaction. Decides nothing, checks nothing, tells nobody.
 */
export const rawGroupCommit = async ({ folder, commands, group, synchronous }: RawWrites): Promise<Timing> => {
  const database = new DatabaseSync(join(folder, `raw-${process.hrtime.bigint()}.sqlite`));
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON; ${schema}`,
    );
    const begin = database.prepare("BEGIN IMMEDIATE");
    const commit = database.prepare("COMMIT");
    const event = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)");
    const row = database.prepare(
      "INSERT INTO rows VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position, data = excluded.data",
    );
    const receipt = database.prepare("INSERT INTO receipts VALUES (?, ?, ?)");
    let sequence = 0;
    const command = (index: number) => {
      const thread = `thread-${index % 20}`;
      for (let n = 0; n < perCommand.events; n += 1) {
        sequence += 1;
        event.run(
          sequence,
          thread,
          sequence,
          `event-${sequence}`,
          "message.appended",
          1_767_225_600_000 + index,
          payload,
        );
      }
      for (let n = 0; n < perCommand.rows; n += 1) row.run(thread, `row-${(index + n) % 200}`, sequence, payload);
      for (let n = 0; n < perCommand.receipts; n += 1) receipt.run(`command-${index}-${n}`, "accepted", sequence);
    };
    return await timed(commands, () => {
      for (let from = 0; from < commands; from += group) {
        begin.run();
        for (let index = from; index < Math.min(from + group, commands); index += 1) command(index);
        commit.run();
      }
    });
  } finally {
    database.close();
  }
};

/** What group commit is worth: groups of 256 commands against a transaction a command. */
export const rawSqlite = async ({ scale, rounds, report }: BenchContext): Promise<void> => {
  await withFolder(async (folder) => {
    for (const synchronous of ["FULL", "NORMAL"] as const) {
      const grouped = { folder, commands: scaled(20_000, scale), group: 256, synchronous };
      const single = {
        folder,
        commands: scaled(synchronous === "FULL" ? 1_000 : 10_000, scale),
        group: 1,
        synchronous,
      };
      report(
        await compare(
          {
            what: `raw node:sqlite, groups of 256, ${synchronous}`,
            unit: "commands",
            subject: { name: "groups of 256", run: () => rawGroupCommit(grouped) },
            baseline: { name: "one a transaction", run: () => rawGroupCommit(single) },
          },
          rounds,
        ),
      );
    }
  });
};
