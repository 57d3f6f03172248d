import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { noCapabilities } from "@tributary/contracts";
import type { InternalCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Projection, Store, Writer, type Projector } from "@tributary/store";
import { Effect, Layer } from "effect";

export interface ReplySize {
  readonly deltas: number;
  readonly seconds: number;
  /** Of any type that names the message. */
  readonly messageEvents: number;
  readonly payloadBytes: number;
  /** Rows of the journal: packs and the ids that are kept unique. */
  readonly journalBytes: number;
  /** The records as JSON, before they are packed. */
  readonly recordBytes: number;
}

const actor = { kind: "client", id: "bench" } as const;
const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor,
  place: { projectId: "project", cwd: "/project" },
  instance: { known: true, refusedOptions: {} },
};
const begin: ReadonlyArray<InternalCommand> = [
  { type: "session.open", generation: 1 },
  { type: "session.opened", generation: 1, nativeSessionId: "native", resumed: false, capabilities: noCapabilities },
  { type: "turn.start", turnId: "turn", generation: 1, origin: "runtime" },
];

/** A frame as Codex sends them. */
const record = (id: string, type: string, payload: object, frame: object) => ({
  kind: "frame" as const,
  native: { kind: type, frame },
  events: [{ id, type, turnId: "turn", itemId: "item", agentPath: [], payload }],
});

const delta = (n: number, text: string) =>
  record(
    `turn:item:delta:${n}`,
    "content.delta",
    { stream: "assistant_text", text },
    { method: "item/agentMessage/delta", params: { threadId: "native", turnId: "turn", itemId: "item", delta: text } },
  );

const pieceUnits = 10;
/** 10,000 characters in 30 s, as models write. */
const pieceMs = 30;

/** Streams a reply in real time and counts what it left. */
export const replySize = async (options: {
  readonly dir: string;
  readonly projector: Projector;
  readonly synchronous: "full" | "normal";
  readonly characters: number;
}): Promise<ReplySize> => {
  const { dir, projector, synchronous, characters } = options;
  const whole = "The parser reads one line at a time. ".repeat(Math.ceil(characters / 37)).slice(0, characters);
  const pieces = Array.from({ length: Math.ceil(characters / pieceUnits) }, (_, index) =>
    whole.slice(index * pieceUnits, (index + 1) * pieceUnits),
  );
  let recordBytes = 0;
  const store = Store.layer({ dir, synchronous }).pipe(Layer.provide(Layer.succeed(Projection, projector)));
  const seconds = await Effect.gen(function* () {
    const writer = yield* Writer;
    const ingestion = yield* ProviderRuntimeIngestion;
    yield* writer.dispatch(
      { type: "thread.create", commandId: "create", threadId: "thread", cwd: "/project", instance: "stub" },
      context,
    );
    yield* writer.step("thread", (tx) => {
      for (const each of begin) tx.decide(each, { actor });
    });
    const start = performance.now();
    for (const [n, text] of pieces.entries()) {
      const sent = delta(n, text);
      recordBytes +=
        Buffer.byteLength(JSON.stringify(sent.native.frame)) + Buffer.byteLength(JSON.stringify(sent.events));
      yield* ingestion.submit("thread", 1, sent);
      // Against the start, so that what a busy machine adds does not add up.
      yield* Effect.sleep(Math.max(0, start + (n + 1) * pieceMs - performance.now()));
    }
    const end = { method: "item/completed", params: { threadId: "native", itemId: "item", text: whole } };
    yield* ingestion.submit(
      "thread",
      1,
      record("turn:item:completed", "item.completed", { itemType: "assistant_message", text: whole }, end),
    );
    yield* ingestion.drain();
    return (performance.now() - start) / 1_000;
  }).pipe(Effect.provide(ProviderRuntimeIngestion.layer().pipe(Layer.provideMerge(store))), Effect.runPromise);

  const log = sum(
    join(dir, "main.db"),
    "SELECT count(*) AS n, sum(length(CAST(payload AS BLOB))) AS bytes FROM events WHERE type LIKE 'message.%'",
  );
  const packs = sum(
    join(dir, "journal.db"),
    "SELECT count(*) AS n, sum(length(CAST(heads AS BLOB)) + length(CAST(frames AS BLOB))) AS bytes FROM packs",
  );
  const ids = sum(
    join(dir, "journal.db"),
    "SELECT count(*) AS n, sum(length(CAST(id AS BLOB)) + 8) AS bytes FROM event_ids",
  );
  return {
    deltas: pieces.length,
    seconds,
    messageEvents: log.n,
    payloadBytes: log.bytes,
    journalBytes: packs.bytes + ids.bytes + blobBytes(join(dir, "blobs")),
    recordBytes,
  };
};

const sum = (file: string, sql: string): { readonly n: number; readonly bytes: number } => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const row = database.prepare(sql).get();
    return { n: Number(row?.["n"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) };
  } finally {
    database.close();
  }
};

const blobBytes = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + statSync(join(entry.parentPath, entry.name)).size, 0);
