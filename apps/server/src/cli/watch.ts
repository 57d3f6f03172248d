/** Following a thread at the terminal: shows what comes, answers what is asked, and says how the turn went. */
import type { DomainEventOf } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import { Effect, Stream } from "effect";
import type { Scope } from "effect";
import type { Answerer, AnswererServices as Services } from "./answers.ts";
import { answerRequests, isA } from "./answer-requests.ts";
import { followThread } from "./client.ts";
import type { Access, ApiClient, Frame } from "./client.ts";
import { failure } from "./failure.ts";
import type { CliFailure } from "./failure.ts";
import { printJson } from "./output.ts";
import { makeRenderer } from "./render.ts";
import { makeScreen } from "./screen.ts";

/** How what was watched ended. */
export type Ending =
  | { readonly kind: "shown" }
  | { readonly kind: "turn"; readonly turn: DomainEventOf<"turn.ended">["payload"] }
  | { readonly kind: "input"; readonly why: string }
  | { readonly kind: "session"; readonly why: string };

export interface Watch {
  readonly access: Access;
  readonly client: ApiClient;
  readonly threadId: string;
  /** Where to begin; absent: the thread's beginning. */
  readonly after?: string;
  /** The input whose turn ends the watching; absent: it goes on until it is interrupted. */
  readonly inputId?: string;
  /** Ends when everything so far was shown. */
  readonly backlogOnly?: boolean;
  readonly answerer: Answerer;
  /** Public events as lines instead of text. */
  readonly json: boolean;
}

/** What one event says about the input that is waited for. */
const makeEnding = (inputId: string | undefined) => {
  let turnId: string | undefined;
  return (event: PublicEvent): Ending | undefined => {
    if (inputId === undefined) return undefined;
    if (isA(event, "turn.started") && event.payload.inputIds.includes(inputId)) turnId = event.payload.turnId;
    if (isA(event, "input.started") && event.payload.inputId === inputId) turnId = event.payload.turnId ?? turnId;
    if (isA(event, "turn.ended") && event.payload.turnId === turnId) return { kind: "turn", turn: event.payload };
    if (isA(event, "input.failed") && event.payload.inputId === inputId)
      return { kind: "input", why: event.payload.error.message };
    if (isA(event, "input.withdrawn") && event.payload.inputId === inputId)
      return { kind: "input", why: event.payload.reason ?? "it was taken back" };
    if (isA(event, "input.unconfirmed") && event.payload.inputId === inputId)
      return { kind: "input", why: `${event.payload.reason}; nothing shows that the agent read it` };
    if (isA(event, "session.failed") && turnId === undefined)
      return { kind: "session", why: event.payload.error.message };
    return undefined;
  };
};

/** Shows a thread until what is waited for has ended. */
export const watchThread = Effect.fn("cli.watchThread")(function* (
  watch: Watch,
): Effect.fn.Return<Ending, CliFailure, Services | Scope.Scope> {
  const screen = makeScreen();
  const renderer = makeRenderer({ inputs: watch.inputId === undefined });
  const requests = yield* answerRequests(watch, screen);
  const endingOf = makeEnding(watch.inputId);
  let ending: Ending | undefined;

  const show = Effect.fnUntraced(function* (frame: Frame) {
    if (frame.frame === "event") {
      yield* watch.json ? printJson(frame.data) : screen.write(renderer.event(frame.data));
      yield* requests.event(frame.data);
      ending = endingOf(frame.data);
    } else if (frame.frame === "live") {
      if (!watch.json) yield* screen.write(renderer.live(frame.data));
    } else if (frame.frame === "synced") {
      if (watch.backlogOnly === true) ending = { kind: "shown" };
      else yield* requests.synced;
    } else return yield* failure(`The server can't go on from where it was: ${frame.reason}.`);
    return ending === undefined;
  });

  const frames = followThread(watch.access, watch.threadId, watch.after);
  yield* Effect.raceFirst(Stream.runForEachWhile(frames, show), requests.failed);
  yield* screen.endLine;
  return ending ?? (yield* failure("The stream ended before the turn did; `tributary attach` goes on."));
}, Effect.scoped);
