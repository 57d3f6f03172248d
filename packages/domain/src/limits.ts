/** What keeps the state of a thread bounded whatever its clients do (I11, I12). */

/** Inputs that wait in the queue; one more is `busy`. */
export const maxQueued = 1_000;

/** Failed and unconfirmed inputs that wait for the person; a new input discards the oldest beyond this. */
export const maxUnsettled = 100;
