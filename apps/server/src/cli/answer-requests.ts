/** Answers what an agent asks while a thread is watched: one request after the other, beside the stream. */
import type { DomainEventOf, DomainEventType } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import { Deferred, Effect, FiberHandle } from "effect";
import type { Scope } from "effect";
import type { Answerer, AnswererServices, Asked } from "./answers.ts";
import { clientFailure } from "./client.ts";
import type { Access, ApiClient } from "./client.ts";
import type { CliFailure } from "./failure.ts";
import { oneLine } from "./output.ts";
import type { Screen } from "./screen.ts";

export const isA = <T extends DomainEventType>(event: PublicEvent, type: T): event is PublicEvent & DomainEventOf<T> =>
  event.type === type;

interface Watched {
  readonly access: Access;
  readonly client: ApiClient;
  readonly threadId: string;
  readonly answerer: Answerer;
}

export interface Requests {
  readonly event: (event: PublicEvent) => Effect.Effect<void>;
  /** The backlog is read: what is open now waits for an answer. */
  readonly synced: Effect.Effect<void>;
  /** Fails when an answer could not be given; else it never ends. */
  readonly failed: Effect.Effect<never, CliFailure>;
}

const overBy = ["request.answering", "request.answered", "request.withdrawn", "request.expired"] as const;

export const answerRequests = Effect.fnUntraced(function* (
  watched: Watched,
  screen: Screen,
): Effect.fn.Return<Requests, never, AnswererServices | Scope.Scope> {
  const services = yield* Effect.context<AnswererServices>();
  const asking = yield* FiberHandle.make();
  const failed = yield* Deferred.make<never, CliFailure>();
  const open = new Map<string, Asked>();
  let current: string | undefined;
  let isSynced = false;

  const answer = Effect.fnUntraced(function* (asked: Asked) {
    const { client, access, threadId, answerer } = watched;
    yield* screen.endLine;
    const answered = yield* answerer(asked);
    yield* client.requests
      .answer({
        params: { requestId: asked.requestId },
        headers: {},
        payload: { threadId, answer: answered, subjectHash: asked.subjectHash },
      })
      .pipe(
        // Somebody else was quicker, or the agent took it back: the events say so.
        Effect.catchIf(
          (error) => error._tag === "CommandRejected" && error.code !== "invalid_answer",
          (error) => screen.note(`  ${oneLine(error.message)}`),
        ),
        Effect.mapError(clientFailure(access)),
      );
  });

  const answerAll = Effect.gen(function* () {
    for (let asked = first(open); asked !== undefined; asked = first(open)) {
      current = asked.requestId;
      open.delete(current);
      yield* answer(asked);
      current = undefined;
    }
  }).pipe(
    Effect.provideContext(services),
    Effect.catch((error) => Effect.asVoid(Deferred.fail(failed, error))),
  );

  const begin = Effect.suspend(() =>
    isSynced && open.size > 0
      ? Effect.asVoid(FiberHandle.run(asking, answerAll, { onlyIfMissing: true }))
      : Effect.void,
  );

  const over = (requestId: string) =>
    Effect.suspend(() => {
      open.delete(requestId);
      if (current !== requestId) return Effect.void;
      current = undefined;
      return Effect.andThen(FiberHandle.clear(asking), begin);
    });

  return {
    event: (event) => {
      if (isA(event, "request.opened")) {
        open.set(event.payload.requestId, event.payload);
        return begin;
      }
      const type = overBy.find((one) => one === event.type);
      return type !== undefined && isA(event, type) ? over(event.payload.requestId) : Effect.void;
    },
    synced: Effect.suspend(() => {
      isSynced = true;
      return begin;
    }),
    failed: Deferred.await(failed),
  };
});

const first = (open: ReadonlyMap<string, Asked>): Asked | undefined => open.values().next().value;
