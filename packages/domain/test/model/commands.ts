/** Random commands: mostly what an honest client or runtime would send, sometimes late, stale, repeated or nonsense. */
import { itemKey, messageId } from "@tributary/contracts";
import type { InternalCommand } from "@tributary/contracts";
import { capabilities, failure, options } from "../facts.ts";
import type { BareCommand } from "../given.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

const turns = ["t1", "t2", "t3", "t4"];
const paths: ReadonlyArray<ReadonlyArray<string>> = [[], [], [], ["k1"], ["k1", "k2"], ["k3"]];
const numbered = (prefix: string, random: Random, below: number): string => `${prefix}${random.int(below)}`;

/** The id of something that is there, if there is any, else of something that perhaps never was. */
const some = (ledger: Ledger, random: Random, kind: Parameters<Ledger["all"]>[0], otherwise: string): string => {
  const known = ledger.all(kind);
  const open = known.filter(({ state }) => !["over", "done", "ended", "withdrawn", "retracted"].includes(state));
  if (open.length > 0 && random.chance(0.75)) return random.pick(open).id;
  return known.length > 0 && random.chance(0.6) ? random.pick(known).id : otherwise;
};

type Maker<C> = (ledger: Ledger, random: Random) => C;

const inputId = (ledger: Ledger, random: Random) => some(ledger, random, "input", numbered("i", random, 30));
const requestId = (ledger: Ledger, random: Random) => some(ledger, random, "request", numbered("r", random, 8));

/** One that the runtime has and has not read, as often as there is one. */
const held = (ledger: Ledger, random: Random): string =>
  (random.chance(0.7) ? ledger.in("input", "handed_over")[0]?.id : undefined) ?? inputId(ledger, random);

/** Weight and maker of each client command. */
const client: ReadonlyArray<readonly [number, Maker<BareCommand>]> = [
  [
    14,
    (_, random) => ({
      type: "input.submit",
      inputId: numbered("i", random, 30),
      text: "x",
      delivery: random.pick(["prompt", "queue", "steer", "auto", "auto"]),
      ...(random.chance(0.2) ? { planId: numbered("p", random, 3) } : {}),
    }),
  ],
  [2, (ledger, random) => ({ type: "input.edit", inputId: inputId(ledger, random), text: "y" })],
  [4, (ledger, random) => ({ type: "input.withdraw", inputId: held(ledger, random) })],
  [3, (ledger, random) => ({ type: "input.resubmit", inputId: inputId(ledger, random) })],
  [2, (ledger, random) => ({ type: "input.discard", inputId: inputId(ledger, random) })],
  [2, () => ({ type: "queue.resume" })],
  [2, () => ({ type: "turn.interrupt" })],
  [2, (ledger, random) => ({ type: "turn.interrupt", inputId: inputId(ledger, random) })],
  [2, (ledger, random) => ({ type: "turn.interrupt", turnId: some(ledger, random, "turn", "t9") })],
  [
    8,
    (ledger, random) => ({
      type: "request.answer",
      requestId: requestId(ledger, random),
      answer: { optionId: random.pick(["yes", "yes", "no", "maybe"]) },
      ...(random.chance(0.5) ? { subjectHash: random.pick(["h1", "h1", "h1", "h2"]) } : {}),
    }),
  ],
  [1, () => ({ type: "session.release" })],
  [1, () => ({ type: "session.forget" })],
  [1, (_, random) => ({ type: random.pick(["thread.archive", "thread.unarchive", "thread.unarchive"]) })],
  [1, () => ({ type: "thread.rename", title: "x" })],
  [1, (_, random) => ({ type: "thread.configure", model: "m", ...(random.chance(0.2) ? { cwd: "/elsewhere" } : {}) })],
  [0.12, () => ({ type: "thread.delete" })],
  [0.2, () => ({ type: "thread.create", cwd: "/p", instance: "stub" })],
];

const generation = (ledger: Ledger, random: Random): number =>
  random.chance(0.95) ? Math.max(1, ledger.generation) : 1 + random.int(ledger.generation + 1);

const turnId = (ledger: Ledger, random: Random): string => {
  const active = ledger.turn?.id;
  if (active !== undefined && random.chance(0.8)) return active;
  return some(ledger, random, "turn", random.pick(turns));
};

/** Ids of turns are fresh in each generation, as runtimes make them, but for a few that come twice. */
const newTurn = (ledger: Ledger, random: Random): string =>
  random.chance(0.1) ? turnId(ledger, random) : `g${ledger.generation}-${ledger.all("turn").length + 1}`;

const place = (ledger: Ledger, random: Random) => {
  const at = random.chance(0.9) ? { turnId: turnId(ledger, random) } : {};
  return { ...at, agentPath: random.pick(paths), generation: generation(ledger, random) };
};

const append = (ledger: Ledger, random: Random): InternalCommand => {
  const text = "abcdef".slice(0, 1 + random.int(6));
  const known = ledger.all("text").filter(({ id }) => id.includes("m"));
  if (known.length > 0 && random.chance(0.6)) {
    const entry = random.pick(known);
    const offset = (entry.text ?? "").length + (random.chance(0.9) ? 0 : 1);
    return { type: "message.append", messageId: entry.id, offset, text };
  }
  const at = place(ledger, random);
  const itemId = numbered("m", random, 4);
  const segment = random.int(3);
  const id = messageId(at.turnId, at.agentPath, itemId, segment);
  return { type: "message.append", messageId: id, offset: 0, text, start: { ...at, itemId, segment } };
};

const reason = (ledger: Ledger, random: Random): InternalCommand => {
  const at = place(ledger, random);
  const itemId = numbered("r", random, 3);
  const id = `${itemKey(at.turnId, at.agentPath, itemId)}#r0`;
  const known = ledger.get("text", id);
  const piece = { type: "reasoning.append", reasoningId: id, kind: "full", text: "hm" } as const;
  return known === undefined
    ? { ...piece, offset: 0, start: { ...at, itemId, segment: 0 } }
    : { ...piece, offset: (known.text ?? "").length };
};

const activity = (ledger: Ledger, random: Random): InternalCommand => {
  const at = place(ledger, random);
  const itemId = numbered("a", random, 5);
  const fields = { activityId: itemKey(at.turnId, at.agentPath, itemId), itemId, itemType: "command" as const, ...at };
  return { type: "activity.start", ...fields, ...(random.chance(0.2) ? { status: "completed" as const } : {}) };
};

const internal: ReadonlyArray<readonly [number, Maker<InternalCommand>]> = [
  [6, (ledger, random) => ({ type: "session.open", generation: ledger.generation + (random.chance(0.95) ? 1 : 0) })],
  [
    8,
    (ledger, random) => ({
      type: "session.opened",
      generation: generation(ledger, random),
      nativeSessionId: "n",
      resumed: false,
      capabilities: {
        ...capabilities,
        steer: random.chance(0.7),
        queue: { durable: false, withdraw: random.chance(0.8) },
      },
    }),
  ],
  [0.5, (ledger, random) => ({ type: "session.fail", generation: generation(ledger, random), error: failure() })],
  [
    1.5,
    (ledger, random) => ({
      type: "session.exit",
      generation: generation(ledger, random),
      seen: random.pick(["runtime", "host_restart"]),
      kind: random.pick(["crash", "graceful"]),
      recoverable: true,
    }),
  ],
  [1, (ledger, random) => ({ type: "session.idle", generation: generation(ledger, random) })],
  [1, (ledger, random) => ({ type: "session.configure", generation: generation(ledger, random), model: "m2" })],
  [
    9,
    (ledger, random) => ({
      type: "turn.start",
      turnId: newTurn(ledger, random),
      generation: generation(ledger, random),
      ...(random.chance(0.3) ? { inputIds: [inputId(ledger, random)] } : {}),
      ...(random.chance(0.2) ? { origin: "runtime" as const } : {}),
    }),
  ],
  [
    6,
    (ledger, random) => ({
      type: "turn.end",
      ...(random.chance(0.9) ? { turnId: turnId(ledger, random) } : {}),
      generation: generation(ledger, random),
      outcome: random.pick(["completed", "completed", "failed", "interrupted"]),
    }),
  ],
  [10, append],
  [4, reason],
  [2, (ledger, random) => ({ type: "message.complete", messageId: some(ledger, random, "text", "x") })],
  [1, (ledger, random) => ({ type: "reasoning.complete", reasoningId: some(ledger, random, "text", "x") })],
  [1, (ledger, random) => ({ type: "message.replace", messageId: some(ledger, random, "text", "x"), text: "zz" })],
  [1, (ledger, random) => ({ type: "message.retract", messageId: some(ledger, random, "text", "x"), reason: "cut" })],
  [7, activity],
  [3, (ledger, random) => ({ type: "activity.update", activityId: some(ledger, random, "activity", "x"), title: "t" })],
  [
    5,
    (ledger, random) => ({
      type: "activity.end",
      activityId: some(ledger, random, "activity", "x"),
      status: "completed",
    }),
  ],
  [
    4,
    (ledger, random) => {
      const agentPath = random.pick(paths);
      const taskId = random.pick(["k1", "k2", "k3", "k4", "k5", "k6"]);
      return {
        type: "task.start",
        taskId: `${taskId}-${ledger.generation}`,
        kind: random.pick(["subagent", "background"]),
        ...place(ledger, random),
        agentPath,
        ...(random.chance(0.8) ? { childPath: [...agentPath, taskId] } : {}),
      };
    },
  ],
  [1, (ledger, random) => ({ type: "task.update", taskId: some(ledger, random, "task", "x"), title: "t" })],
  [3, (ledger, random) => ({ type: "task.end", taskId: some(ledger, random, "task", "x"), status: "completed" })],
  [
    8,
    (ledger, random) => ({
      type: "request.open",
      requestId: `r${random.int(8)}-${ledger.generation}`,
      ...place(ledger, random),
      subjectHash: "h1",
      kind: "approval",
      action: random.pick(["command", "file_change"]),
      options: options.filter(({ id }) => id !== "always"),
      subject: { paths: ["a"] },
    }),
  ],
  [
    3,
    (ledger, random) => ({
      type: "request.resolve",
      requestId: requestId(ledger, random),
      outcome: random.pick(["answered", "withdrawn", "expired"]),
      ...(random.chance(0.3) ? { optionId: "no" } : {}),
    }),
  ],
  [
    5,
    (ledger, random) => ({
      type: "request.deliver",
      requestId: requestId(ledger, random),
      outcome: random.pick(["confirmed", "unconfirmed"]),
    }),
  ],
  [4, (ledger, random) => ({ type: "request.not_delivered", requestId: requestId(ledger, random), error: failure() })],
  [1, (ledger, random) => ({ type: "request.expire", requestId: requestId(ledger, random), reason: "deadline" })],
  [
    1,
    (ledger, random) => ({
      type: "request.auto_answer",
      requestId: requestId(ledger, random),
      answer: { optionId: "yes" },
      by: { kind: "system", id: "s" },
    }),
  ],
  [
    14,
    (ledger, random) => {
      const steer = ledger.turn !== undefined && random.chance(0.7);
      const next = random.chance(0.8) ? ledger.next?.id : undefined;
      const steering = ledger.in("input", "queued").find(({ mode }) => mode === "steer")?.id;
      return {
        type: "input.hand_over",
        inputId: (steer ? steering : next) ?? inputId(ledger, random),
        mode: steer ? "steer" : "prompt",
        generation: generation(ledger, random),
      };
    },
  ],
  [
    6,
    (ledger, random) => ({
      type: "input.evidence",
      inputId: inputId(ledger, random),
      state: random.pick(["acknowledged", "held", "started", "started", "folded", "withdrawn", "dropped", "refused"]),
      ...(random.chance(0.4) ? { turnId: turnId(ledger, random) } : {}),
    }),
  ],
  [1, (ledger, random) => ({ type: "input.fail", inputId: inputId(ledger, random), error: failure() })],
  [1, (ledger, random) => ({ type: "input.lose", inputId: inputId(ledger, random), reason: "timeout" })],
  [
    3,
    (ledger, random) => ({
      type: "input.withdraw_fail",
      inputId: ledger.askedBack ?? held(ledger, random),
      error: failure(),
    }),
  ],
  [2, (_, random) => ({ type: "interrupt.escalate", step: random.pick(["native", "terminate", "kill"]) })],
  [1, (_, random) => ({ type: "plan.propose", planId: numbered("p", random, 3), agentPath: [], markdown: "#" })],
  [1, (ledger, random) => ({ type: "turn.plan", steps: [], ...place(ledger, random) })],
  [
    1,
    (ledger, random) => ({
      type: "turn.diff",
      turnId: turnId(ledger, random),
      generation: generation(ledger, random),
      unifiedDiff: "",
      size: 0,
    }),
  ],
  [0.5, () => ({ type: "thread.title", title: "t" })],
  [0.1, () => ({ type: "thread.purge" })],
];

const weighted = <C>(makers: ReadonlyArray<readonly [number, Maker<C>]>, ledger: Ledger, random: Random): C => {
  let left = random.next() * makers.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of makers) {
    left -= weight;
    if (left <= 0) return make(ledger, random);
  }
  throw new Error("weights ran out");
};

export type Step =
  | { readonly from: "client"; readonly command: BareCommand }
  | { readonly from: "runtime"; readonly command: InternalCommand };

/** The next thing that somebody sends. */
export const nextStep = (ledger: Ledger, random: Random): Step => {
  if (ledger.deleted && random.chance(0.3)) return { from: "runtime", command: { type: "thread.purge" } };
  if (ledger.askedBack !== undefined && random.chance(0.15))
    return {
      from: "runtime",
      command: { type: "input.withdraw_fail", inputId: ledger.askedBack, error: failure() },
    };
  if (!ledger.live && random.chance(0.03)) return { from: "client", command: { type: "session.forget" } };
  return random.chance(0.3)
    ? { from: "client", command: weighted(client, ledger, random) }
    : { from: "runtime", command: weighted(internal, ledger, random) };
};
