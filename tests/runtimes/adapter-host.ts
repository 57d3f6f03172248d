import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  Adapter,
  Answer,
  InstanceConfig,
  OpenError,
  OpenOptions,
  RuntimeEvent,
  RuntimeEventOf,
  RuntimeEventType,
  RuntimeRecord,
  RuntimeSession,
} from "@tributary/contracts";
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import { findSurvivors } from "@tributary/providers";
import { Deferred, Effect, Exit, Scope } from "effect";

/** `TRIBUTARY_FAST=1` leaves out what takes long; what stays needs less than a minute. */
export const isFast = process.env["TRIBUTARY_FAST"] === "1";

/** Everything that an adapter emitted in one session, and a way to wait for what it will. */
export class Recorded {
  readonly records: Array<RuntimeRecord> = [];
  readonly events: Array<RuntimeEvent> = [];
  readonly #waiting = new Set<{ readonly check: () => void }>();

  readonly emit = (record: RuntimeRecord): Effect.Effect<void> =>
    Effect.sync(() => {
      this.records.push(record);
      for (const event of record.events) {
        const checked = decodeRuntimeEvent(event);
        if (isUndecodable(checked)) throw new Error(`${checked.problem}: ${JSON.stringify(event)}`);
        this.events.push(event);
      }
      for (const { check } of this.#waiting) check();
    });

  /** The first event at or after `from` that fits, past or coming. */
  next<T extends RuntimeEventType>(
    type: T,
    fits: (event: RuntimeEventOf<T>) => boolean = () => true,
    from = 0,
  ): Effect.Effect<RuntimeEventOf<T>> {
    return Effect.suspend(() => {
      const found = Deferred.makeUnsafe<RuntimeEventOf<T>>();
      let at = from;
      const check = (): void => {
        for (; at < this.events.length; at += 1) {
          const event = this.events[at] as RuntimeEvent;
          if (event.type === type && fits(event as RuntimeEventOf<T>)) {
            Deferred.doneUnsafe(found, Effect.succeed(event as RuntimeEventOf<T>));
            return;
          }
        }
      };
      const waiter = { check };
      this.#waiting.add(waiter);
      check();
      return Effect.ensuring(
        Deferred.await(found),
        Effect.sync(() => this.#waiting.delete(waiter)),
      );
    }).pipe(
      Effect.timeoutOrElse({
        duration: "25 seconds",
        orElse: () => Effect.die(new Error(`no ${type} came; the last events: ${this.tail()}`)),
      }),
    );
  }

  all<T extends RuntimeEventType>(type: T, from = 0): ReadonlyArray<RuntimeEventOf<T>> {
    // The compiler can't narrow a union by a generic member.
    return this.events.slice(from).filter((event) => event.type === type) as unknown as ReadonlyArray<
      RuntimeEventOf<T>
    >;
  }

  /** What people would read of one agent: deltas less what was retracted, item by item. */
  text(from = 0, agentPath: ReadonlyArray<string> = []): string {
    const items = new Map<string, string>();
    for (const event of this.events.slice(from)) {
      if ((event.agentPath ?? []).join("/") !== agentPath.join("/")) continue;
      const key = event.itemId ?? "-";
      if (event.type === "content.delta" && event.payload.stream === "assistant_text")
        items.set(key, (items.get(key) ?? "") + event.payload.text);
      if (event.type === "content.retracted") items.delete(key);
    }
    return [...items.values()].join("");
  }

  tail(): string {
    return this.events
      .slice(-12)
      .map((event) => `${event.type} ${JSON.stringify(event.payload).slice(0, 160)}`)
      .join("\n");
  }
}

export interface Host {
  readonly session: RuntimeSession;
  readonly seen: Recorded;
  readonly marker: string;
  readonly scope: Scope.Closeable;
  /** The pid of the runtime's own process. */
  readonly pid: () => number;
}

export interface Setup {
  readonly adapter: Adapter;
  readonly instance: InstanceConfig;
  readonly cwd: string;
}

const fixed = (): Pick<OpenOptions, "threadId" | "approvalMode" | "interactionMode"> => ({
  threadId: "thread",
  approvalMode: "ask",
  interactionMode: "default",
});

/** Opens a session of an adapter with nothing of Tributary around it. */
export const openSession = (
  { adapter, instance, cwd }: Setup,
  more: Partial<OpenOptions> = {},
): Effect.Effect<Host, OpenError> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make();
    const seen = new Recorded();
    const marker = `test-${randomUUID()}`;
    let pid = 0;
    const session = yield* adapter
      .open({
        ...fixed(),
        instance,
        cwd,
        marker,
        generation: 1,
        emit: seen.emit,
        onSpawned: (identity) =>
          Effect.sync(() => {
            pid = identity.pid;
          }),
        ...more,
      })
      .pipe(
        Effect.provideService(Scope.Scope, scope),
        Effect.onError(() => Scope.close(scope, Exit.void)),
      );
    return { session, seen, marker, scope, pid: () => pid };
  });

/** Closes it; fails when anything of it still runs, or when its last record is not its exit. */
export const closeSession = ({ session, seen, marker, scope }: Host): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* session.close;
    yield* Scope.close(scope, Exit.void);
    yield* noneLeft(marker);
    const last = seen.records.at(-1)?.events.at(-1)?.type;
    if (last !== "session.exited") throw new Error(`the last record says ${String(last)}, not session.exited`);
  });

export const noneLeft = (marker: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const left = yield* Effect.orDie(findSurvivors({ marker }));
    if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`);
  });

let inputs = 0;
export const newInput = (text: string): { readonly inputId: string; readonly text: string } => {
  inputs += 1;
  return { inputId: `input-${inputs}`, text };
};

/** One turn to its end: every approval gets `answer`, every question the answers. Gives what the turn said. */
export const runTurn = (
  host: Host,
  text: string,
  answer: (request: RuntimeEventOf<"request.opened">) => Answer = () => ({ optionId: "accept" }),
  more: { readonly interactionMode?: "default" | "plan" } = {},
) =>
  Effect.gen(function* () {
    const { session, seen } = host;
    const from = seen.events.length;
    const input = newInput(text);
    yield* session.prompt({ ...input, ...more });
    const answering = yield* Effect.forkChild(
      Effect.gen(function* () {
        for (let at = from; ;) {
          const request = yield* seen.next("request.opened", undefined, at);
          at = seen.events.indexOf(request) + 1;
          yield* session.answer?.({ requestId: request.requestId ?? "", answer: answer(request) }) ?? Effect.void;
        }
      }).pipe(Effect.ignore),
    );
    const end = yield* seen.next("turn.completed", undefined, from);
    answering.interruptUnsafe();
    return { from, end, input, text: seen.text(from), events: seen.events.slice(from) };
  });

/** Writes a home folder and makes an empty project. */
export const makeFolders = (folder: string, files: Readonly<Record<string, string>>) => {
  const home = join(folder, "home");
  const cwd = join(folder, "project");
  mkdirSync(home, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  return { home, cwd };
};

export const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect);

/** A session for one test; afterwards nothing of it runs, and its last record is its exit. */
export const useSession = <A>(
  setup: Setup,
  use: (host: Host) => Effect.Effect<A, unknown>,
  more: Partial<OpenOptions> = {},
): Effect.Effect<A, unknown> =>
  Effect.gen(function* () {
    const host = yield* openSession(setup, more);
    const result = yield* Effect.onError(use(host), () => host.session.signal("kill"));
    yield* closeSession(host);
    return result;
  });

/** Live processes of a session by the name of their program. */
export const processesNamed = (host: Host, name: string) =>
  Effect.map(Effect.orDie(findSurvivors({ marker: host.marker })), (rows) =>
    rows.filter((row) => row.command === name),
  );

/** For what no event tells: processes of the system. */
export const waitUntil = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!(yield* condition)) yield* Effect.sleep("50 millis");
  }).pipe(
    Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.die(new Error("it did not come true")) }),
  );
