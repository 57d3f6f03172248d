/** What a round takes of each lane: a bounded part, so that everybody gets on (I15). */
import type { Journal, JournalEntry } from "@tributary/store";
import type { Accepted } from "./intake.ts";
import type { Lane } from "./lane.ts";
import { roundBytes, roundRecords, visitBytes, visitRecords } from "../limits.ts";

/** Part of a round: what was taken from one lane. */
export interface Share {
  readonly lane: Lane;
  readonly entries: ReadonlyArray<JournalEntry>;
  /** Records that were taken. */
  readonly count: number;
  readonly bytes: number;
}

interface Room {
  readonly records: number;
  readonly bytes: number;
}

/** Takes the front of a lane's queue: so many records, so many bytes, at least one record. */
const takeFront = (lane: Lane, room: Room): { readonly taken: ReadonlyArray<Accepted>; readonly bytes: number } => {
  const { queue } = lane;
  let records = 0;
  let bytes = 0;
  for (const record of queue) {
    if (records >= room.records || (records > 0 && bytes + record.bytes > room.bytes)) break;
    records += 1;
    bytes += record.bytes;
  }
  const taken = records === queue.length ? queue.splice(0) : queue.splice(0, records);
  return { taken, bytes };
};

const number = (
  journal: Journal["Service"],
  { threadId, numbered, begun }: Lane,
  taken: ReadonlyArray<Accepted>,
): ReadonlyArray<JournalEntry> => {
  let of: number | undefined;
  let seq = 0;
  const entries = taken.map(({ entry }) => {
    const { generation } = entry;
    if (generation !== of) {
      if (of !== undefined) numbered.set(of, seq);
      of = generation;
      seq = numbered.get(generation) ?? journal.lastSeq(threadId, generation);
      if (!begun.has(generation)) begun.set(generation, seq + 1);
    }
    seq += 1;
    entry.seq = seq;
    return entry;
  });
  if (of !== undefined) numbered.set(of, seq);
  return entries;
};

/** So much of each lane in turn, from the ring's front; lanes for which there is no room go to its end. Few lanes share what many would. */
export const takeRound = (ring: Array<Lane>, journal: Journal["Service"]): ReadonlyArray<Share> => {
  const lanes = ring.splice(0, roundRecords);
  const most = Math.max(visitRecords, Math.floor(roundRecords / Math.max(1, lanes.length)));
  let records = roundRecords;
  let bytes = roundBytes;
  const shares: Array<Share> = [];
  for (const lane of lanes) {
    if (records <= 0 || bytes <= 0) {
      ring.push(lane);
      continue;
    }
    lane.isQueued = false;
    lane.isBusy = true;
    const front = takeFront(lane, { records: Math.min(most, records), bytes: Math.min(visitBytes, bytes) });
    const entries = number(journal, lane, front.taken);
    records -= entries.length;
    bytes -= front.bytes;
    shares.push({ lane, entries, count: entries.length, bytes: front.bytes });
  }
  return shares;
};

/** What the journal has stored, to each its own. It may have numbered records anew. */
export const storedOf = (shares: ReadonlyArray<Share>, stored: ReadonlyArray<JournalEntry>): ReadonlyArray<Share> => {
  let at = 0;
  return shares.map((share) => {
    const entries = stored.slice(at, at + share.count);
    at += share.count;
    const last = entries.at(-1);
    if (last !== undefined) share.lane.numbered.set(last.generation, last.seq);
    else if (share.count > 0) share.lane.numbered.clear();
    return { ...share, entries };
  });
};
