/**
 * Random clients and runtimes against the decider, beside a second account of what happened (`model/`). After every
 * decision: each machine allowed each step and no end came twice, the state is exactly what is open, nothing is open
 * without a live process (I8), no turn or generation changed another (I6), no request was answered twice (I7), versions
 * are gap-free (I3), and state and events survive being stored as JSON.
 *
 * `TRIBUTARY_MODEL_SEED` repeats one sequence; the seed is in the message of a failure.
 */
import type { DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { decideInternal, decideThread, evolveThread } from "../src/index.ts";
import type { InternalDecision, ThreadDecision, ThreadState } from "../src/index.ts";
import { created, now, person, runtime, threadId } from "./facts.ts";
import { clientCommand, keeper } from "./given.ts";
import { checkInvariants, checkState, checkTurns, freeze } from "./model/checks.ts";
import { nextStep } from "./model/commands.ts";
import type { Step } from "./model/commands.ts";
import { Ledger } from "./model/ledger.ts";
import { predictClient, predictInternal } from "./model/predict.ts";
import { random } from "./model/random.ts";

const sequences = 2_000;
const steps = 60;

const context = { now, actor: person, input: { text: "x", origin: { kind: "user" } } } as const;

const outcome = (decision: ThreadDecision | InternalDecision): string => {
  if (!decision.ok) return "rejection" in decision ? decision.rejection.code : decision.reason;
  return "mode" in decision && decision.mode !== undefined ? `ok:${decision.mode}` : "ok";
};

const named = (prefix: string, names: string): ReadonlyArray<string> =>
  names.split(" ").map((name) => `${prefix}.${name}`);

/** Every event that these commands can come to. */
const kinds = [
  ...named("thread", "renamed configured archived unarchived deleted purged"),
  ...named("input", "queued edited handed_over started done withdrawn failed unconfirmed discarded"),
  ...named("input", "withdraw_requested withdraw_failed"),
  ...named("queue", "held resumed"),
  ...named("session", "opening started configured exited released failed forgotten"),
  ...named("turn", "started ended plan_updated diff_updated"),
  ...named("message", "appended completed replaced retracted"),
  ...named("reasoning", "appended completed"),
  ...named("activity", "started updated ended"),
  ...named("task", "started updated ended"),
  ...named("request", "opened answering answered withdrawn expired delivery_failed"),
  ...named("plan", "proposed resolved"),
  ...named("interrupt", "requested escalated"),
];

/** Every way to say no to them. */
const refusals = [
  "busy no_active_turn not_queued unsupported thread_archived thread_deleted thread_exists input_exists cwd_immutable",
  "unknown_request already_answered request_expired request_changed invalid_answer",
  "other_generation session_over no_session turn_active turn_over turn_unknown not_active_turn item_over task_over",
  "request_unknown request_over input_unknown invalid",
].flatMap((line) => line.split(" "));

/** What the sequences met. */
interface Coverage {
  readonly events: Map<string, number>;
  readonly outcomes: Set<string>;
}

const roundTrip = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A;

class Run {
  readonly ledger = new Ledger();
  readonly kept = keeper();
  readonly log: Array<readonly [what: string, detail: unknown]> = [];
  readonly coverage: Coverage;

  constructor(coverage: Coverage) {
    this.coverage = coverage;
  }

  apply(...events: ReadonlyArray<DomainEvent>): void {
    const before = this.kept.state();
    for (const event of freeze(events, "events")) {
      this.log.push([`    ${event.type}`, event.payload]);
      this.kept.apply(event);
      this.ledger.apply(event);
      this.coverage.events.set(event.type, (this.coverage.events.get(event.type) ?? 0) + 1);
    }
    freeze(this.state(), "state");
    // Stored and read again, state and events come to the same. A third of the time: it is most of the work.
    if (this.state().version % 3 !== 0) return;
    const again = roundTrip(events).reduce<ThreadState | undefined>(
      (state, event) => evolveThread(state, event, threadId),
      before === undefined ? undefined : roundTrip(before),
    );
    if (JSON.stringify(again) !== JSON.stringify(this.state())) throw new Error("a stored state evolves otherwise");
  }

  state(): ThreadState {
    const state = this.kept.state();
    if (state === undefined) throw new Error("no thread");
    return state;
  }

  decide(step: Step): void {
    const [decision, predicted] =
      step.from === "client"
        ? [
            decideThread(this.state(), clientCommand(step.command), context, this.kept.look),
            predictClient(this.ledger, clientCommand(step.command)),
          ]
        : [
            decideInternal(this.state(), step.command, { now, actor: runtime }, this.kept.look),
            predictInternal(this.ledger, step.command),
          ];
    const got = outcome(decision);
    this.log.push([`  ${step.from} → ${got}:`, step.command]);
    if (predicted !== undefined && got !== predicted)
      throw new Error(`the ledger says ${predicted}, the decider ${got}`);
    this.coverage.outcomes.add(got);
    if (!decision.ok) return;
    const active = this.ledger.turn?.id;
    if (decision.events.length > 0) this.apply(...decision.events);
    checkState(this.state(), this.ledger);
    checkInvariants(this.ledger);
    checkTurns(this.ledger, step.command, active, decision.events);
  }

  /** Whatever happened, the end of the stream leaves nothing open (I8). */
  end(): void {
    if (!this.ledger.live) return;
    const { generation } = this.ledger;
    this.decide({
      from: "runtime",
      command: { type: "session.exit", generation, seen: "host_restart", kind: "killed", recoverable: true },
    });
    const { turn, texts, activities, tasks, requests, interrupt } = this.state();
    expect({ turn, texts, activities, tasks, requests, interrupt }).toStrictEqual({
      turn: undefined,
      texts: [],
      activities: [],
      tasks: [],
      requests: [],
      interrupt: undefined,
    });
  }
}

const runSequence = (seed: number, coverage: Coverage): void => {
  const run = new Run(coverage);
  const source = random(seed);
  try {
    const approvalMode = source.pick(["ask", "ask", "accept_edits", "full_access"] as const);
    run.apply(created({ approvalMode }));
    // A deleted thread has little left to say.
    for (let step = 0, left = 10; step < steps && left > 0; step++) {
      run.decide(nextStep(run.ledger, source));
      if (run.ledger.deleted) left -= 1;
    }
    run.end();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const story = run.log.slice(-25).map(([what, detail]) => `${what} ${JSON.stringify(detail)}`);
    throw new Error(`seed ${seed}: ${said}\n${story.join("\n")}`, { cause: error });
  }
};

describe("the decider, among random clients and runtimes", () => {
  const asked = process.env["TRIBUTARY_MODEL_SEED"];
  const coverage: Coverage = { events: new Map(), outcomes: new Set() };

  it(`keeps its invariants in ${sequences} sequences of ${steps} commands`, { timeout: 120_000 }, () => {
    const first = asked === undefined ? 1 : Number(asked);
    for (let seed = first; seed < first + (asked === undefined ? sequences : 1); seed++) runSequence(seed, coverage);
  });

  it.skipIf(asked !== undefined)("and meets every kind of event and of refusal", () => {
    const few = kinds.filter((type) => (coverage.events.get(type) ?? 0) < 20);
    expect(few).toStrictEqual([]);
    expect(refusals.filter((code) => !coverage.outcomes.has(code))).toStrictEqual([]);
  });
});
