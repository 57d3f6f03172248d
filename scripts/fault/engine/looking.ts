/** What a thread's page shows, as the scripts of this folder look at it. */
import { get, pause, type Call } from "../server.ts";

// oxlint-disable-next-line typescript/no-explicit-any
export type Page = any;

/** A row of the timeline that is not over. */
export const isOpenRow = ({ streaming, status, state }: Page): boolean =>
  streaming === true || status === "in_progress" || state === "pending" || state === "answering";

/** The page once it is so, or as it is when time is up. */
export const until = async (
  call: Call,
  threadId: string,
  holds: (page: Page) => boolean,
  within = 30_000,
): Promise<Page> => {
  const deadline = performance.now() + within;
  for (;;) {
    const page = await get(call, `/threads/${threadId}`);
    if (holds(page) || performance.now() > deadline) return page;
    await pause(25);
  }
};
