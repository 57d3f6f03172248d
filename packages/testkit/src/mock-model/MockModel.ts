import { Context, Effect, Layer, Schema } from "effect";
import type { Scope } from "effect";
import type { JournalEntry, Predicate } from "./journal.ts";
import { startMockModel, type MockModelOptions } from "./server.ts";

/** The mock could not listen: another process has the port. Use port 0. */
export class MockModelError extends Schema.TaggedError<MockModelError>()("MockModelError", {
  message: Schema.String,
}) {}

/**
 * A model server for tests: real runtimes and real HTTP clients talk to it, and a marker in the last user message says
 * what it answers.
 */
export class MockModel extends Context.Service<
  MockModel,
  {
    /** `http://127.0.0.1:PORT`, no trailing slash. OpenAI clients want `/v1` behind it, Anthropic ones do not. */
    readonly url: string;
    readonly journal: Effect.Effect<ReadonlyArray<JournalEntry>>;
    /** Forgets the journal and the counted attempts, and lets everyone through the gates. */
    readonly reset: Effect.Effect<void>;
    /** Lets the streams at this gate go on, and those that will come to it. */
    readonly releaseGate: (name: string) => Effect.Effect<void>;
    /** Returns when a stream stands at the gate. */
    readonly gateHeld: (name: string) => Effect.Effect<void>;
    /** The first request, past or coming, that fits; asked again when a request ends. */
    readonly waitForRequest: (predicate: Predicate) => Effect.Effect<JournalEntry>;
  }
>()("tributary/testkit/MockModel") {
  /** Runs as long as the scope; its end closes all streams. */
  static readonly make = (
    options: MockModelOptions = {},
  ): Effect.Effect<MockModel["Service"], MockModelError, Scope.Scope> =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.tryPromise({
          try: () => startMockModel(options),
          catch: (cause) => new MockModelError({ message: `The mock model server did not start: ${String(cause)}` }),
        }),
        (running) => Effect.promise(() => running.stop()),
      );
      return {
        url: server.url,
        journal: Effect.sync(() => server.journal()),
        reset: Effect.sync(() => server.reset()),
        releaseGate: (name) => Effect.sync(() => server.releaseGate(name)),
        gateHeld: (name) => Effect.promise(() => server.gateHeld(name)),
        waitForRequest: (predicate) => Effect.promise((signal) => server.waitForRequest(predicate, signal)),
      };
    });

  static readonly layer = (options: MockModelOptions = {}): Layer.Layer<MockModel, MockModelError> =>
    Layer.effect(MockModel, MockModel.make(options));
}
