import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { OpenOptions, RuntimeEvent, RuntimeEventOf, RuntimeEventType, RuntimeRecord } from "@tributary/contracts";
import { Deferred, Effect, Exit, Scope } from "effect";
import { expect } from "vitest";
import { makeClaude } from "../../src/claude/adapter.ts";
import { findSurvivors } from "../../src/process/index.ts";

const program = fileURLToPath(new URL("fixtures/fake-claude.mjs", import.meta.url));
export const secret = "very-secret-key";

/** Records of a session of the stand-in, and a way to wait for them. */
export class Seen {
  readonly records: Array<RuntimeRecord> = [];
  readonly #waiting = new Set<() => void>();

  readonly emit = (record: RuntimeRecord): Effect.Effect<void> =>
    Effect.sync(() => {
      this.records.push(record);
      for (const check of this.#waiting) check();
    });

  all<T extends RuntimeEventType>(type: T): ReadonlyArray<RuntimeEventOf<T>> {
    const events: ReadonlyArray<RuntimeEvent> = this.records.flatMap((record) => record.events);
    // The compiler can't narrow a union by a generic member.
    return events.filter((event) => event.type === type) as unknown as ReadonlyArray<RuntimeEventOf<T>>;
  }

  /** Resolves when the records are so. */
  untilSo(isSo: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void>();
      const check = (): void => {
        if (isSo()) Deferred.doneUnsafe(done, Effect.void);
      };
      this.#waiting.add(check);
      check();
      return Effect.ensuring(
        Deferred.await(done),
        Effect.sync(() => this.#waiting.delete(check)),
      );
    });
  }

  /** Resolves when that many events of a type are there. */
  until(type: RuntimeEventType, count = 1): Effect.Effect<void> {
    return this.untilSo(() => this.all(type).length >= count);
  }

  /** What was said, message by message. */
  texts(): ReadonlyArray<string> {
    return this.all("item.completed").flatMap(({ payload }) =>
      payload.itemType === "assistant_message" ? (payload.text ?? "") : [],
    );
  }
}

/** `fake`: what fixtures/fake-claude.mjs reads. */
export const openFake = (fake: object = {}, more: Partial<OpenOptions> = {}) =>
  Effect.gen(function* () {
    const seen = new Seen();
    const scope = yield* Scope.make();
    const marker = `test-${randomUUID()}`;
    const session = yield* makeClaude()
      .open({
        threadId: "t",
        generation: 1,
        // The program comes first among the arguments, then what the adapter adds.
        instance: {
          id: "fake",
          runtime: "claude",
          command: process.execPath,
          args: [program],
          env: { FAKE: JSON.stringify(fake), SECRET_KEY: secret },
        },
        cwd: tmpdir(),
        approvalMode: "ask",
        interactionMode: "default",
        marker,
        onSpawned: () => Effect.void,
        emit: seen.emit,
        ...more,
      })
      .pipe(
        Effect.provideService(Scope.Scope, scope),
        Effect.onError(() => Scope.close(scope, Exit.void)),
        Effect.tapError(() => Effect.map(findSurvivors({ marker }), (left) => expect(left).toEqual([]))),
        // The failure is all that is said of a session that did not open.
        Effect.tapError(() => Effect.sync(() => expect(seen.all("session.exited")).toEqual([]))),
      );
    /** One turn to its end. */
    const turn = (text: string) =>
      Effect.gen(function* () {
        const turns = seen.all("turn.completed").length;
        yield* session.prompt({ inputId: `input-${text}`, text });
        yield* seen.until("turn.completed", turns + 1);
      });
    const close = Effect.gen(function* () {
      yield* session.close;
      yield* Scope.close(scope, Exit.void);
      expect(yield* findSurvivors({ marker })).toEqual([]);
      expect(seen.records.at(-1)?.events.at(-1)?.type).toBe("session.exited");
      expect(seen.all("session.exited")).toHaveLength(1);
    });
    return { session, seen, turn, close };
  });
