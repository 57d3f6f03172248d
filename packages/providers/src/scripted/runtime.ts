/**
 * The scripted runtime itself: takes calls, runs turns, sends frames. The same code runs inside the host and as a child
 * process (child.ts); only `RuntimeHost` differs.
 */
import type { Answer, Failure, PromptInput, RuntimeEvent } from "@tributary/contracts";
import { Deferred, Effect, Fiber, type Scope } from "effect";
import type {
  Call,
  CallArguments,
  FromRuntime,
  Method,
  OpenArguments,
  ReplyError,
  RuntimeExit,
  ToRuntime,
} from "./protocol.ts";
import type { Behaviour, Behaviours, Script, Step } from "./script.ts";
import { runSteps } from "./steps.ts";
import type { Surroundings } from "./turn.ts";
import { Turn } from "./turn.ts";

export interface RuntimeHost {
  /** Sends one frame; suspends while its reader is full. */
  readonly send: (frame: FromRuntime) => Effect.Effect<void>;
  /** The process is gone. */
  readonly exit: (how: RuntimeExit) => Effect.Effect<void>;
}

export interface ScriptedRuntime {
  /** Takes one message. Never waits for what it starts. */
  readonly take: (message: ToRuntime) => Effect.Effect<void>;
}

const noMoreTurns: ReadonlyArray<Step> = [{ do: "text", text: "The script has no turn left for “{{input}}”." }];

type Outcome = { readonly result?: unknown } | { readonly error: ReplyError };
const done: Outcome = {};
const refused = (code: string, message: string): Outcome => ({
  error: { reason: "refused", failure: { class: "validation", code, message, retryable: false } },
});

/** Makes a runtime that lives in the current scope. The script comes with the `open` call. */
export const makeRuntime = Effect.fnUntraced(function* (
  host: RuntimeHost,
): Effect.fn.Return<ScriptedRuntime, never, Scope.Scope> {
  const scope = yield* Effect.scope;
  const process = new RuntimeProcess(host, scope);
  return { take: (message) => process.take(message) };
});

class RuntimeProcess {
  readonly #host: RuntimeHost;
  readonly #scope: Scope.Scope;
  #opened: OpenArguments | undefined;
  #turn: { readonly turn: Turn; readonly fiber: Fiber.Fiber<void> } | undefined;
  #turnsUsed = 0;
  #turns = 0;
  #events = 0;
  #minted = 0;
  readonly #calls = new Map<Method, number>();
  readonly #requests: Surroundings["requests"] = new Map();

  constructor(host: RuntimeHost, scope: Scope.Scope) {
    this.#host = host;
    this.#scope = scope;
  }

  take(message: ToRuntime): Effect.Effect<void> {
    if (message.method === "close") {
      return this.#script.on?.close === "hang" ? Effect.void : this.#host.exit({ code: 0 });
    }
    if (message.method === "open") {
      this.#opened = message.params;
      this.#turnsUsed = message.params.turnsUsed;
    }
    return Effect.asVoid(Effect.forkIn(this.#perform(message), this.#scope));
  }

  get #script(): Script {
    return this.#opened?.script ?? {};
  }

  #behaviour(method: Method): Behaviour {
    const behaviours: Behaviours = this.#script.on?.[method] ?? "accept";
    const calls = this.#calls.get(method) ?? 0;
    this.#calls.set(method, calls + 1);
    // Arrays of behaviours are told from one behaviour by being arrays: no behaviour is one.
    if (!isList(behaviours)) return behaviours;
    return behaviours[Math.min(calls, behaviours.length - 1)] ?? "accept";
  }

  #perform(call: Call): Effect.Effect<void> {
    const behaviour = this.#behaviour(call.method);
    const reply = (outcome: Outcome) => this.#host.send({ reply: call.id, ...outcome });
    const act = Effect.suspend(() => this.#act(call));
    if (typeof behaviour === "object") return reply({ error: failureOf(behaviour) });
    switch (behaviour) {
      case "accept":
        return Effect.flatMap(act, reply);
      case "hang":
        return Effect.void;
      case "mute":
        return Effect.asVoid(act);
      case "ignore":
        return reply(done);
    }
  }

  #act(call: Call): Effect.Effect<Outcome> {
    switch (call.method) {
      case "open":
        return Effect.as(Effect.sleep(this.#script.openDelayMs ?? 0), done);
      case "prompt":
        return this.#prompt(call.params);
      case "steer":
        return this.#steer(call.params);
      case "answer":
        return Effect.succeed(this.#answer(call.params));
      case "configure":
        return Effect.succeed({ result: call.params });
      case "interrupt":
        return this.#interrupt(call.params);
    }
  }

  #prompt(input: PromptInput): Effect.Effect<Outcome> {
    if (this.#turn !== undefined) return Effect.succeed(refused("busy", "a turn is running; steer it or wait"));
    this.#turns += 1;
    const generation = this.#opened?.generation ?? 1;
    const turn = new Turn(`t${generation}.${this.#turns}`, input.text, this.#surroundings(generation));
    const run = this.#run(turn, input, this.#stepsFor(input.text, turn.values));
    return Effect.map(Effect.forkIn(run, this.#scope), (fiber) => {
      this.#turn = { turn, fiber };
      return { result: { turnsUsed: this.#turnsUsed } };
    });
  }

  /** The steps for an input; the groups of the pattern that it fitted go into `values`. */
  #stepsFor(text: string, values: Map<string, string>): ReadonlyArray<Step> {
    const turns = this.#script.turns ?? [];
    for (const { match, steps } of turns) {
      const found = match === undefined ? null : new RegExp(match, "iu").exec(text);
      if (found === null) continue;
      for (const [index, group] of found.entries()) values.set(`match.${index}`, group ?? "");
      return steps;
    }
    const next = turns.filter((turn) => turn.match === undefined)[this.#turnsUsed];
    if (next === undefined) return this.#script.otherwise ?? noMoreTurns;
    this.#turnsUsed += 1;
    return next.steps;
  }

  #run(turn: Turn, input: PromptInput, steps: ReadonlyArray<Step>): Effect.Effect<void> {
    const model = input.model ?? this.#script.model ?? this.#opened?.model;
    const end = (payload: Parameters<typeof turn.say<"turn.completed">>[2]) =>
      Effect.suspend(() => {
        this.#turn = undefined;
        return turn.say("turn.completed", [], payload);
      });
    return turn
      .say("turn.started", [], {
        inputIds: [input.inputId],
        origin: "input",
        ...(model === undefined ? {} : { model }),
        ...(input.effort === undefined ? {} : { effort: input.effort }),
      })
      .pipe(
        Effect.andThen(runSteps(turn, [], steps)),
        Effect.andThen(end({ outcome: "completed", stopReason: "end" })),
        Effect.catchTag("TurnEnd", ({ payload }) => Effect.andThen(turn.windUp, end(payload))),
      );
  }

  #steer(input: CallArguments["steer"]): Effect.Effect<Outcome> {
    const turn = this.#turn?.turn;
    if (turn === undefined || turn.turnId !== input.turnId)
      return Effect.succeed(refused("no_active_turn", `the turn ${input.turnId} is not running`));
    turn.steer(input.text);
    return Effect.as(turn.say("input.state", [], { inputId: input.inputId, state: "folded" }), done);
  }

  #answer({ requestId, answer }: { readonly requestId: string; readonly answer: Answer }): Outcome {
    const request = this.#requests.get(requestId);
    if (request === undefined) return refused("unknown_request", `nothing waits under ${requestId}`);
    const problem = request.accepts(answer);
    if (problem !== undefined) return refused("invalid_answer", problem);
    this.#requests.delete(requestId);
    Deferred.doneUnsafe(request.answer, Effect.succeed(answer));
    return done;
  }

  #interrupt(target: CallArguments["interrupt"]): Effect.Effect<Outcome> {
    const running = this.#turn;
    if (running === undefined) return Effect.succeed(done);
    if (target.turnId !== undefined && target.turnId !== running.turn.turnId) return Effect.succeed(done);
    return Fiber.interrupt(running.fiber).pipe(
      Effect.andThen(running.turn.windUp),
      Effect.andThen(
        Effect.suspend(() => {
          this.#turn = undefined;
          return running.turn.say("turn.completed", [], { outcome: "interrupted" });
        }),
      ),
      Effect.as(done),
    );
  }

  #surroundings(generation: number): Surroundings {
    return {
      generation,
      cwd: this.#opened?.cwd ?? ".",
      emit: (event) => this.#emit(event),
      noise: (line) => this.#host.send({ noise: line }),
      exit: (how) => Effect.andThen(this.#host.exit(how), Effect.never),
      background: (effect) => Effect.asVoid(Effect.forkIn(effect, this.#scope)),
      requests: this.#requests,
      mint: (letter) => {
        this.#minted += 1;
        return `${letter}${generation}.${this.#minted}`;
      },
    };
  }

  #emit(event: RuntimeEvent): Effect.Effect<void> {
    this.#events += 1;
    return this.#host.send({ event: { id: `e${this.#events}`, ...event } });
  }
}

const isList = (behaviours: Behaviours): behaviours is ReadonlyArray<Behaviour> => Array.isArray(behaviours);

const failureOf = (behaviour: Exclude<Behaviour, string>): ReplyError => {
  const failure: Failure = {
    class: behaviour.class ?? "unknown",
    message: behaviour.message ?? `the script answers with ${behaviour.fail}`,
    retryable: behaviour.retryable ?? false,
    ...(behaviour.code === undefined ? {} : { code: behaviour.code }),
  };
  return { reason: behaviour.fail, failure };
};
