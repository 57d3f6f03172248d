/** The figures of ingestion (design section 4). Lengths of text are UTF-16 code units, times are milliseconds. */

/** A segment's buffer is flushed when it reaches this; no message event carries more. */
export const segmentUnits = 24_000;
/** Streamed text is in the log at the latest this long after it came. */
export const textAgeMs = 1_000;
/** `item.updated` and `task.updated` merge by field for this long. */
export const updateMs = 200;
/** `usage.updated` and `turn.diff` merge for this long. */
export const usageMs = 1_000;

/** Command output in the log: this much of its beginning as it comes, this much of its end when the command is over. */
export const outputHeadUnits = 32_768;
export const outputTailUnits = 32_768;
/** One event carries at most this much command output (48 KiB of UTF-8 at worst). */
export const outputPieceUnits = 16_384;

/** An event's payload as JSON, in UTF-8 bytes; what is larger is cut or becomes a blob. 64 KiB less the envelope. */
export const payloadBytes = 63 * 1024;
/** Diffs of one event stay in it up to this many UTF-8 bytes; beyond that the largest become blobs. */
export const diffBytes = 48 * 1024;
/** Error strings, in UTF-8 bytes. */
export const errorBytes = 4 * 1024;

/** Segments of a thread that are open at a time; one more ends the oldest. Runtimes that never end their items meet it. */
export const openSegments = 64;
/** Ended text items whose pieces are remembered for the comparison with a whole text. */
export const rememberedItems = 32;
/** Kinds that are counted by name in diagnostics; more are counted together. */
export const namedKinds = 64;

/** Bytes of frames and events that wait, of one thread and of all: beyond it `submit` suspends. */
export const threadBytes = 8 * 1024 * 1024;
export const totalBytes = 64 * 1024 * 1024;
/** One visit of a thread takes at most this much before the next thread's turn (I15). */
export const visitRecords = 512;
export const visitBytes = 1024 * 1024;
/** One append to the journal, over all threads. */
export const roundRecords = 2_048;
export const roundBytes = 4 * 1024 * 1024;
/** Interpreted records that a checkpoint may lag behind while nothing enters the log. */
export const checkpointRecords = 20_000;
/** A record that fails this often is refused as `invalid`. */
export const attemptsPerRecord = 3;
/** What the journal keeps, where no setting says otherwise. */
export const journalDays = 30;
export const journalBytes = 4 * 1024 ** 3;
/** Shutdown gives up on what is not drained by then. */
export const shutdownMs = 5_000;
