/** What several reads share: whether there is such a thread, cursors, and the errors of views as problems. */
import type { ThreadShell } from "@tributary/contracts";
import type { Internal, NotFound, Unavailable } from "@tributary/contracts/api";
import { CursorProblem } from "@tributary/contracts/api";
import { CursorInvalid, Views } from "@tributary/projections";
import type { StoreError } from "@tributary/store";
import { Effect } from "effect";
import { notFound, storeProblem } from "./problems.ts";

/** The shell of a thread that is there and not deleted. */
export const existing = Effect.fnUntraced(function* (
  threadId: string,
): Effect.fn.Return<ThreadShell, NotFound | Unavailable | Internal, Views> {
  const views = yield* Views;
  const shell = yield* Effect.mapError(views.shell(threadId), storeProblem);
  return shell ?? (yield* notFound(`There is no thread ${threadId}, or it is deleted. GET /threads lists them.`));
});

export const readProblem = (error: StoreError | CursorInvalid): CursorProblem | Unavailable | Internal =>
  error instanceof CursorInvalid
    ? new CursorProblem({ detail: error.message, userAction: "retry" })
    : storeProblem(error);

/** Runs something that throws `CursorProblem` for a bad cursor. */
export const reading = <A>(read: () => A): Effect.Effect<A, CursorProblem> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read());
    } catch (error) {
      return error instanceof CursorProblem ? Effect.fail(error) : Effect.die(error);
    }
  });
