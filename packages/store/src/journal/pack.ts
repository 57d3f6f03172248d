/**
 * Consecutive records of a session as one row. Measured on two cores with 256 records of about 340 bytes an append: a row
 * a record 94,000–114,000 records/s, packed as one JSON text 160,000–220,000, packed with the frames beside it
 * 150,000–250,000; hence the last. A frame is JSON text already and is not escaped again.
 */
import type { JournalEntry, JournalRecord } from "./Journal.ts";

/** A frame longer than this many UTF-16 code units is a blob. */
export const blobLimit = 65_536;

/** Reading one record parses its whole pack, so packs stay small. */
const packRecords = 256;
const packUnits = 262_144;

/** The record without its frame. `frame` is its length in the frames' text, or a blob's hash. */
type Head = readonly [
  kind: JournalEntry["kind"],
  dir: JournalEntry["dir"],
  nativeKind: string,
  frame: number | string,
  replyTo: string | null,
  events: JournalEntry["events"],
  at: number,
];

export interface Pack {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly at: number;
  readonly heads: string;
  readonly frames: string;
}

/** Outside a JSON string a lone surrogate cannot stand, so this changes how it is written, not what is written. */
const escapeLone = (json: string): string =>
  json.isWellFormed()
    ? json
    : json.replaceAll(
        /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
      );

/** Packs records that follow one another. `blobOf` says where the frame of an entry went, if it is a blob. */
export const pack = (
  entries: ReadonlyArray<JournalEntry>,
  blobOf: (entry: JournalEntry) => string | undefined,
): ReadonlyArray<Pack> => {
  const packs: Array<Pack> = [];
  let heads: Array<Head> = [];
  let frames = "";
  let first: JournalEntry | undefined;
  const close = (last: JournalEntry | undefined): void => {
    if (first === undefined || last === undefined) return;
    packs.push({ firstSeq: first.seq, lastSeq: last.seq, at: last.at, heads: JSON.stringify(heads), frames });
    heads = [];
    frames = "";
    first = undefined;
  };
  let previous: JournalEntry | undefined;
  for (const entry of entries) {
    if (heads.length >= packRecords || frames.length >= packUnits) close(previous);
    const hash = blobOf(entry);
    const frame = hash === undefined ? escapeLone(entry.frame) : "";
    frames += frame;
    heads.push([
      entry.kind,
      entry.dir,
      entry.nativeKind,
      hash ?? frame.length,
      entry.replyTo ?? null,
      entry.events,
      entry.at,
    ]);
    first ??= entry;
    previous = entry;
  }
  close(previous);
  return packs;
};

/** The records of a pack from `after` on. */
export const unpack = (
  session: { readonly threadId: string; readonly generation: number },
  packed: Pick<Pack, "firstSeq" | "heads" | "frames">,
  after: number,
  blob: (hash: string) => string | undefined,
): ReadonlyArray<JournalRecord> => {
  const records: Array<JournalRecord> = [];
  let seq = packed.firstSeq;
  let at = 0;
  // Written by `pack` alone.
  for (const [kind, dir, nativeKind, frame, replyTo, events, time] of JSON.parse(packed.heads) as ReadonlyArray<Head>) {
    const end = typeof frame === "number" ? at + frame : at;
    if (seq > after) {
      records.push({
        ...session,
        seq,
        kind,
        dir,
        nativeKind,
        frame: typeof frame === "number" ? packed.frames.slice(at, end) : blob(frame),
        ...(replyTo === null ? {} : { replyTo }),
        events,
        at: time,
      });
    }
    at = end;
    seq += 1;
  }
  return records;
};
