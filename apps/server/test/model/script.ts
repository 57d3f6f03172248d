/**
 * Random scripts: several devices, a runtime that says anything at any time, behaviours of calls, time, crashes. A script
 * is made from its seed alone, without a look at the product, so that it can be cut down and still means the same.
 */
import { isDeepStrictEqual } from "node:util";
import { randomOf } from "./random.ts";
import type { Random } from "./random.ts";

/** One line of a scenario file, as JSON has it. */
export type ScriptLine = Readonly<Record<string, unknown>>;

export const threads = ["A", "B"] as const;

/** Text of this item may be retracted; nothing else is. */
export const retractable = "x";

const devices = ["desktop", "phone", "cli"] as const;
const options = [
  { id: "yes", label: "Allow", effect: "allow", scope: "once" },
  { id: "no", label: "Reject", effect: "reject", scope: "once" },
];

/** What the writer of the script believes of a thread. It may be wrong; that makes the script only more interesting. */
interface Belief {
  readonly threadId: string;
  readonly inputs: Array<string>;
  readonly turns: Array<string>;
  readonly requests: Array<string>;
  active: string | undefined;
}

/** Text without a turn belongs to its session alone: said again in the next one it is another text. */
const isFree = ({ event }: ScriptLine): boolean => {
  const { type, turnId } = (event ?? {}) as ScriptLine;
  return type === "content.delta" && turnId === undefined;
};

class Writer {
  readonly lines: Array<ScriptLine> = [];
  readonly random: Random;
  readonly beliefs: ReadonlyArray<Belief> = threads.map((threadId) => ({
    threadId,
    inputs: [],
    turns: [],
    requests: [],
    active: undefined,
  }));
  /** An opening that hangs is a call of a memory: no session is there that could survive it. */
  mayHangOpening = false;
  #made = 0;

  constructor(random: Random) {
    this.random = random;
  }

  fresh(prefix: string): string {
    this.#made += 1;
    return `${prefix}${this.#made}`;
  }

  command(threadId: string, type: string, fields: ScriptLine = {}): void {
    const commandId = this.fresh(`${this.random.pick(devices)}-`);
    this.lines.push({ command: { type, threadId, commandId, ...fields } });
  }

  event(belief: Belief, type: string, fields: ScriptLine, payload: ScriptLine): void {
    const generation = this.random.chance(0.06) ? { generation: this.random.pick([1, 1, 2]) } : {};
    const { threadId } = belief;
    this.lines.push({ event: { id: this.fresh("e"), threadId, ...generation, type, ...fields, payload } });
  }

  /** Mostly the turn that is thought to run; else an older one, none, or one that never was. */
  turnOf({ active, turns }: Belief): ScriptLine {
    if (active !== undefined && this.random.chance(0.9)) return { turnId: active };
    if (turns.length > 0 && this.random.chance(0.7)) return { turnId: this.random.pick(turns) };
    return this.random.chance(0.3) ? {} : { turnId: "never" };
  }

  /** An earlier line once more, to the letter: a client that retries, a runtime that repeats. */
  again(kind: "command" | "event"): void {
    const earlier = this.lines.filter((line) => kind in line && !isFree(line));
    if (earlier.length > 0) this.lines.push(this.random.pick(earlier));
  }
}

const commands = (w: Writer, { threadId, inputs, requests, turns }: Belief): void => {
  const { random } = w;
  const someInput = () => ({ inputId: inputs.length === 0 ? "never" : random.pick(inputs) });
  random.weighted([
    [
      8,
      () => {
        const inputId = random.chance(0.05) && inputs.length > 0 ? random.pick(inputs) : w.fresh("i");
        inputs.push(inputId);
        const delivery = random.pick(["auto", "prompt", "prompt", "queue", "steer"]);
        w.command(threadId, "input.submit", { inputId, text: `${inputId} as sent`, delivery });
        // While it may still wait.
        if (random.chance(0.15)) w.command(threadId, "input.edit", { inputId, text: w.fresh("edited ") });
        if (random.chance(0.1)) w.command(threadId, "input.withdraw", { inputId });
      },
    ],
    [2, () => w.command(threadId, "input.edit", { ...someInput(), text: w.fresh("edited ") })],
    [2, () => w.command(threadId, "input.withdraw", someInput())],
    [2, () => w.command(threadId, "input.resubmit", someInput())],
    [1, () => w.command(threadId, "input.discard", someInput())],
    [2, () => w.command(threadId, "queue.resume")],
    [
      2,
      () =>
        w.command(
          threadId,
          "turn.interrupt",
          random.weighted<ScriptLine>([
            [3, {}],
            [1, someInput()],
            [1, { turnId: turns.at(-1) ?? "never" }],
          ]),
        ),
    ],
    [
      6,
      () =>
        w.command(threadId, "request.answer", {
          requestId: requests.length > 0 && random.chance(0.2) ? random.pick(requests) : (requests.at(-1) ?? "never"),
          answer: { optionId: random.pick(["yes", "yes", "no", "other"]) },
          ...(random.chance(0.05) ? { subjectHash: "0000" } : {}),
        }),
    ],
    [
      2,
      () => {
        // Two devices, one question.
        const requestId = requests.at(-1) ?? "never";
        for (const optionId of ["yes", "no"])
          w.command(threadId, "request.answer", { requestId, answer: { optionId } });
      },
    ],
    [1, () => w.command(threadId, "session.release")],
    [0.5, () => w.command(threadId, "session.forget")],
    [0.5, () => w.command(threadId, "thread.archive")],
    [1, () => w.command(threadId, "thread.unarchive")],
    [0.2, () => w.command(threadId, "thread.delete")],
    [1, () => w.command(threadId, "thread.configure", { textDelivery: random.pick(["streaming", "buffered"]) })],
    [1, () => w.command(threadId, "thread.configure", { model: w.fresh("model-") })],
    [0.5, () => w.command("nobody", "queue.resume")],
    [0.3, () => w.command(threadId, "thread.create", { cwd: "/p", instance: "stub" })],
    [4, () => w.again("command")],
  ])();
};

const reports = (w: Writer, belief: Belief): void => {
  const { random } = w;
  const agent = () => (random.chance(0.2) ? { agentPath: ["a"] } : {});
  const item = () => ({ ...w.turnOf(belief), ...agent(), itemId: random.pick(["c1", "c2", "c3"]) });
  const command = (status?: string) => ({
    itemType: "command",
    title: w.fresh("run "),
    ...(status === undefined ? {} : { status }),
  });
  const task = () => ({ taskId: random.pick(["k1", "k2", "k3"]), kind: random.pick(["background", "subagent"]) });
  const start = () => {
    const turnId = w.fresh("t");
    belief.turns.push(turnId);
    belief.active = turnId;
    w.event(belief, "turn.started", { turnId }, random.chance(0.2) ? { origin: "runtime" } : {});
  };
  // A runtime without a turn mostly begins one.
  if (belief.active === undefined && random.chance(0.6)) return start();
  random.weighted([
    [1, start],
    [
      4,
      () => {
        const turn = w.turnOf(belief);
        if (turn["turnId"] === belief.active) belief.active = undefined;
        const outcome = random.pick(["completed", "completed", "completed", "failed", "interrupted"]);
        w.event(belief, "turn.completed", turn, { outcome });
      },
    ],
    [
      10,
      () => {
        const itemId = random.pick(["m1", "m2", retractable]);
        const stream = random.pick(["assistant_text", "assistant_text", "reasoning"]);
        const fields = { ...w.turnOf(belief), ...agent(), itemId };
        // Every delta says something of its own, so that it can be found again. Some cross the cap of a segment.
        const text = `<${w.fresh("")}>${random.chance(0.03) ? "y".repeat(30_000) : ""}`;
        w.event(belief, "content.delta", fields, { stream, text });
      },
    ],
    [1, () => w.event(belief, "content.retracted", { ...w.turnOf(belief), itemId: retractable }, { reason: "cut" })],
    [2, () => w.event(belief, "content.delta", item(), { stream: "command_output", text: "output\n" })],
    [3, () => w.event(belief, "item.started", item(), command())],
    [2, () => w.event(belief, "item.updated", item(), command())],
    [3, () => w.event(belief, "item.completed", item(), command("completed"))],
    [
      4,
      () => {
        const requestId = w.fresh("r");
        belief.requests.push(requestId);
        const payload = { kind: "approval", action: "command", title: "May I?", subject: { command: "ls" }, options };
        w.event(belief, "request.opened", { ...w.turnOf(belief), requestId }, payload);
      },
    ],
    [
      1,
      () => {
        const requestId = belief.requests.length === 0 ? "never" : random.pick(belief.requests);
        const outcome = random.pick(["answered", "withdrawn", "expired"]);
        w.event(belief, "request.resolved", { ...w.turnOf(belief), requestId }, { outcome, by: "runtime" });
      },
    ],
    [2, () => w.event(belief, "task.started", { ...w.turnOf(belief), ...agent() }, task())],
    [1, () => w.event(belief, "task.updated", w.turnOf(belief), { ...task(), summary: w.fresh("so far ") })],
    [2, () => w.event(belief, "task.completed", w.turnOf(belief), { ...task(), status: "completed" })],
    [
      2,
      () => {
        const inputId = belief.inputs.length === 0 ? "never" : random.pick(belief.inputs);
        const state = random.pick(["acknowledged", "held", "started", "folded", "withdrawn", "dropped", "refused"]);
        w.event(belief, "input.state", w.turnOf(belief), { inputId, state });
      },
    ],
    [1, () => w.event(belief, "session.state", {}, { state: random.pick(["ready", "error", "starting"]) })],
    [1, () => w.event(belief, "usage.updated", w.turnOf(belief), { outputTokens: random.int(100), basis: "turn" })],
    [0.5, () => w.event(belief, "quantum.entangled", w.turnOf(belief), {})],
    [0.5, () => w.event(belief, "turn.completed", w.turnOf(belief), { outcome: 7 })],
    [
      0.7,
      () => {
        belief.active = undefined;
        w.event(belief, "session.exited", {}, { kind: random.pick(["crash", "graceful"]), recoverable: true });
      },
    ],
    [3, () => w.again("event")],
  ])();
};

const surroundings = (w: Writer): void => {
  const { random } = w;
  const forgetTurns = () => {
    for (const belief of w.beliefs) belief.active = undefined;
  };
  random.weighted([
    [
      5,
      () => {
        const method = random.pick(["open", "prompt", "steer", "answer", "interrupt", "configure", "close"]);
        const bad = ["hang", "fail:refused", "fail:not_written", "fail:unconfirmed", "fail:exited"];
        const behaviour = random.chance(0.5) ? "accept" : random.pick(bad);
        if (method === "open" && behaviour === "hang") w.mayHangOpening = true;
        w.lines.push({ stub: { [method]: behaviour } });
      },
    ],
    [2, () => w.lines.push({ stub: { open: "accept", prompt: "accept", answer: "accept" } })],
    [1, () => w.lines.push({ stub: { answer: random.pick(["hang", "fail:not_written"]) } })],
    [
      1,
      () =>
        w.lines.push({
          capabilities: {
            steer: random.chance(0.7),
            queue: { durable: false, withdraw: random.chance(0.5) },
          },
        }),
    ],
    [6, () => w.lines.push({ advance: random.pick([50, 250, 1_000, 5_000, 8_000, 40_000, 100_000, 1_000_000]) })],
    [1, () => w.lines.push({ drain: true })],
    [2, () => w.lines.push({ crash: w.mayHangOpening ? true : "replay" })],
    [
      1,
      () => {
        forgetTurns();
        w.lines.push({ crash: true });
      },
    ],
    [
      0.7,
      () => {
        forgetTurns();
        w.lines.push({ restart: true });
      },
    ],
    [0.5, () => w.lines.push({ rebuild: true })],
  ])();
};

/** A script of about so many lines. */
export const randomScript = (seed: number, length: number): ReadonlyArray<ScriptLine> => {
  const random = randomOf(seed);
  const writer = new Writer(random);
  for (const { threadId } of writer.beliefs)
    writer.command(threadId, "thread.create", {
      cwd: "/p",
      instance: "stub",
      approvalMode: random.weighted([
        [6, "ask"],
        [1, "full_access"],
      ]),
      textDelivery: random.weighted([
        [3, "streaming"],
        [1, "buffered"],
      ]),
    });
  while (writer.lines.length < length) {
    const belief = random.pick(writer.beliefs);
    random.weighted([
      [9, () => commands(writer, belief)],
      [16, () => reports(writer, belief)],
      [5, () => surroundings(writer)],
    ])();
  }
  return writer.lines;
};

/** At the end whatever is called hangs; people stop everything, and then let go of it. */
export const stopEverything: ReadonlyArray<ScriptLine> = [
  { stub: { open: "hang", prompt: "hang", steer: "hang", answer: "hang", interrupt: "hang", close: "hang" } },
  ...threads.map((threadId) => ({ command: { type: "turn.interrupt", threadId, commandId: `stop-${threadId}` } })),
  { advance: 8_000 },
];
export const letGo: ReadonlyArray<ScriptLine> = [
  ...threads.map((threadId) => ({ command: { type: "session.release", threadId, commandId: `release-${threadId}` } })),
  { advance: 100_000 },
];

/** Lines that say the same, to the letter. */
export const same = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);
