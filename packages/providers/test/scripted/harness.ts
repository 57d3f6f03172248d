/** Opens sessions of the scripted runtime and collects what it says. */
import type {
  OpenOptions,
  ProcessIdentity,
  RuntimeEvent,
  RuntimeEventOf,
  RuntimeEventType,
  RuntimeRecord,
} from "@tributary/contracts";
import { Deferred, Effect } from "effect";
import { makeScripted } from "../../src/scripted/index.ts";
import type { Script } from "../../src/scripted/index.ts";

/** What a session said so far, and a way to wait for what it says next. */
export class Heard {
  readonly records: Array<RuntimeRecord> = [];
  readonly spawned: Array<ProcessIdentity> = [];
  /** Resolves once a process runs. */
  readonly running = Deferred.makeUnsafe<void>();
  readonly #byType = new Map<RuntimeEventType, Array<RuntimeEvent>>();
  #changed = new Map<RuntimeEventType, Deferred.Deferred<void>>();

  readonly emit = (record: RuntimeRecord): Effect.Effect<void> =>
    Effect.sync(() => {
      this.records.push(record);
      for (const event of record.events) {
        const sorted = this.#byType.get(event.type);
        if (sorted === undefined) this.#byType.set(event.type, [event]);
        else sorted.push(event);
        const changed = this.#changed.get(event.type);
        if (changed === undefined) continue;
        this.#changed.delete(event.type);
        Deferred.doneUnsafe(changed, Effect.void);
      }
    });

  get events(): ReadonlyArray<RuntimeEvent> {
    return this.records.flatMap(({ events }) => events);
  }

  get types(): ReadonlyArray<string> {
    return this.events.map(({ type }) => type);
  }

  of<T extends RuntimeEventType>(type: T): ReadonlyArray<RuntimeEventOf<T>> {
    // Sorted by type above.
    return (this.#byType.get(type) ?? []) as unknown as ReadonlyArray<RuntimeEventOf<T>>;
  }

  /** The text that was streamed for an item (or for all), as it arrived. */
  text(stream = "assistant_text", itemId?: string): string {
    return this.of("content.delta")
      .filter((event) => event.payload.stream === stream && (itemId === undefined || event.itemId === itemId))
      .map(({ payload }) => payload.text)
      .join("");
  }

  /** Resolves with the `count`th event of a type. */
  wait<T extends RuntimeEventType>(type: T, count = 1): Effect.Effect<RuntimeEventOf<T>> {
    return Effect.suspend(() => {
      const found = this.of(type)[count - 1];
      if (found !== undefined) return Effect.succeed(found);
      const changed = this.#changed.get(type) ?? Deferred.makeUnsafe<void>();
      this.#changed.set(type, changed);
      return Effect.andThen(Deferred.await(changed), this.wait(type, count));
    });
  }
}

export interface OpenWith extends Partial<Omit<OpenOptions, "instance" | "emit" | "onSpawned">> {
  readonly process?: boolean;
  readonly options?: Record<string, unknown>;
  readonly heard?: Heard;
}

const adapter = makeScripted();

/** Opens a session of a script; everything ends with the scope. */
export const openScript = Effect.fnUntraced(function* (script: Script | undefined, over: OpenWith = {}) {
  const { process, options, heard = new Heard(), ...rest } = over;
  const session = yield* adapter.open({
    threadId: "T",
    generation: 1,
    cwd: globalThis.process.cwd(),
    approvalMode: "ask",
    interactionMode: "default",
    marker: `scripted-test-${globalThis.process.pid}-${globalThis.crypto.randomUUID()}`,
    ...rest,
    instance: {
      id: "scripted",
      runtime: "scripted",
      options: options ?? {
        ...(script === undefined ? {} : { script }),
        ...(process === undefined ? {} : { process }),
      },
    },
    onSpawned: (identity) => {
      heard.spawned.push(identity);
      return Effect.asVoid(Deferred.succeed(heard.running, undefined));
    },
    emit: heard.emit,
  });
  return { session, heard };
});

/** A script of one turn. */
export const oneTurn = (...steps: NonNullable<Script["otherwise"]>): Script => ({ turns: [{ steps }] });

export const say = (text: string, inputId = "in1") => ({ inputId, text });
