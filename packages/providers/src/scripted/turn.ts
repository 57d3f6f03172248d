/** One turn of the scripted runtime: its ids, what it has open, and how that is wound up. */
import type { Answer, ItemType, RuntimeEvent, RuntimeEventType, RuntimePayloads } from "@tributary/contracts";
import { Data, Deferred, Effect } from "effect";

/** The turn ends here; caught by whoever runs it. */
export class TurnEnd extends Data.TaggedError("TurnEnd")<{
  readonly payload: RuntimePayloads["turn.completed"];
}> {}

/** A request that waits for its answer. `accepts` says why an answer does not fit. */
export interface OpenRequest {
  readonly turnId: string;
  readonly agentPath: ReadonlyArray<string>;
  readonly accepts: (answer: Answer) => string | undefined;
  readonly answer: Deferred.Deferred<Answer>;
}

/** What steps need of the process they run in. */
export interface Surroundings {
  readonly generation: number;
  /** Where commands run. */
  readonly cwd: string;
  readonly emit: (event: RuntimeEvent) => Effect.Effect<void>;
  readonly noise: (line: string) => Effect.Effect<void>;
  /** The process goes; never returns. */
  readonly exit: (how: {
    readonly code?: number;
    readonly signal?: string;
    readonly stderr?: string;
  }) => Effect.Effect<never>;
  /** Runs on when the turn is over. */
  readonly background: (effect: Effect.Effect<void>) => Effect.Effect<void>;
  readonly requests: Map<string, OpenRequest>;
  /** Unique in this session: `<letter><generation>.<n>`. */
  readonly mint: (letter: string) => string;
}

interface OpenItem {
  readonly itemId: string;
  readonly itemType: ItemType;
  readonly agentPath: ReadonlyArray<string>;
}

interface OpenTask {
  readonly taskId: string;
  readonly kind: "subagent" | "background";
  readonly parentPath: ReadonlyArray<string>;
}

/** What was streamed for a text item so far; undefined once a part was retracted, so that nothing wrong is claimed. */
export interface Streamed {
  text: string | undefined;
}

export class Turn {
  readonly turnId: string;
  readonly around: Surroundings;
  /** What `{{…}}` in texts stands for. */
  readonly values = new Map<string, string>();
  readonly items = new Map<string, OpenItem>();
  readonly tasks = new Map<string, OpenTask>();
  readonly streamed = new Map<string, Streamed>();
  lastTextItem: string | undefined;
  #items = 0;
  #steered = 0;
  #steersSeen = 0;
  #steer = Deferred.makeUnsafe<void>();

  constructor(turnId: string, input: string, around: Surroundings) {
    this.turnId = turnId;
    this.around = around;
    this.values.set("input", input);
  }

  nextItem(): string {
    this.#items += 1;
    return `i${this.#items}`;
  }

  /** Emits an event of this turn. */
  say<T extends RuntimeEventType>(
    type: T,
    agentPath: ReadonlyArray<string>,
    payload: RuntimePayloads[T],
    ids: { readonly itemId?: string; readonly requestId?: string } = {},
  ): Effect.Effect<void> {
    const event = { type, turnId: this.turnId, ...ids, ...(agentPath.length === 0 ? {} : { agentPath }), payload };
    // `type` and `payload` belong together by T, which a union of all events can't express for a generic T.
    return this.around.emit(event as RuntimeEvent);
  }

  /** Replaces `{{name}}` by what is known of it; what is not known stays as it is. */
  fill(text: string): string {
    return text.replaceAll(/\{\{([^{}]+)\}\}/gu, (whole, name: string) => this.values.get(name.trim()) ?? whole);
  }

  steer(text: string): void {
    this.values.set("steer", text);
    this.#steered += 1;
    Deferred.doneUnsafe(this.#steer, Effect.void);
  }

  /** Resolves at once if an input was steered in since the last call returned. */
  readonly awaitSteer: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#steersSeen < this.#steered) {
      this.#steersSeen += 1;
      return Effect.void;
    }
    this.#steer = Deferred.makeUnsafe();
    return Effect.andThen(Deferred.await(this.#steer), this.awaitSteer);
  });

  /** Takes back what is open and ends what runs, as a runtime does whose turn is cut short. */
  readonly windUp: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (const [requestId, request] of this.around.requests) {
      if (request.turnId !== this.turnId) continue;
      this.around.requests.delete(requestId);
      yield* this.say("request.resolved", request.agentPath, { outcome: "withdrawn", by: "runtime" }, { requestId });
    }
    for (const { itemId, itemType, agentPath } of this.items.values())
      yield* this.say("item.completed", agentPath, { itemType, status: "interrupted" }, { itemId });
    for (const { taskId, kind, parentPath } of this.tasks.values())
      yield* this.say("task.completed", parentPath, { taskId, kind, status: "interrupted" });
    this.items.clear();
    this.tasks.clear();
  });
}
