/** Runs the steps of a script. One function a kind of step; each ends when the runtime would go on to the next. */
import type { ItemType, RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { askApproval, askQuestions } from "./asks.ts";
import { runCommand, waitAtGate } from "./outside.ts";
import type { Step, StepOf } from "./script.ts";
import { TurnEnd } from "./turn.ts";
import type { Turn } from "./turn.ts";

type Path = ReadonlyArray<string>;
type Run = Effect.Effect<void, TurnEnd>;

/** Runs steps one after the other. Fails with `TurnEnd` where the script ends the turn. */
export const runSteps = (turn: Turn, path: Path, steps: ReadonlyArray<Step>): Run =>
  Effect.forEach(steps, (step) => runStep(turn, path, step), { discard: true });

const runStep = (turn: Turn, path: Path, step: Step): Run => {
  switch (step.do) {
    case "text":
      return text(turn, path, step);
    case "reasoning":
      return reasoning(turn, path, step);
    case "retract":
      return retract(turn, path, step);
    case "tool":
      return tool(turn, path, step);
    case "approval":
      return Effect.flatMap(askApproval(turn, path, approvalFields(step)), (option) =>
        runSteps(turn, path, step.on?.[option.id] ?? step.otherwise ?? []),
      );
    case "question":
      return Effect.flatMap(askQuestions(turn, path, step), (answers) =>
        runSteps(turn, path, caseFor(step, answers) ?? step.otherwise ?? []),
      );
    case "plan": {
      const { do: _, ...payload } = step;
      return turn.say("turn.plan", path, payload);
    }
    case "proposedPlan":
      return proposedPlan(turn, path, step);
    case "diff":
      return turn.say("turn.diff", path, { unifiedDiff: step.unifiedDiff });
    case "usage": {
      const { do: _, ...usage } = step;
      return turn.say("usage.updated", path, { basis: "turn", ...usage });
    }
    case "notice": {
      const { do: _, ...notice } = step;
      return turn.say("notice", path, { level: "info", ...notice });
    }
    case "emit":
      // As the script says, right or wrong: the boundary checks it.
      return turn.around.emit({ turnId: turn.turnId, agentPath: path, ...step.event } as unknown as RuntimeEvent);
    case "noise":
      return turn.around.noise(step.line);
    case "wait":
      return Effect.sleep(step.ms);
    case "silence":
      return Effect.never;
    case "gate":
      return waitAtGate(turn.fill(step.socket));
    case "awaitSteer":
      return turn.awaitSteer;
    case "flood":
      return flood(turn, path, step);
    case "fail":
      return Effect.fail(failed(step));
    case "end": {
      const { do: _, ...payload } = step;
      return Effect.fail(new TurnEnd({ payload: { outcome: "completed", ...payload } }));
    }
    case "exit": {
      const { do: _, ...how } = step;
      return turn.around.exit(how);
    }
    case "agent":
      return agent(turn, path, step);
    case "parallel":
      return Effect.forEach(step.branches, (branch) => runSteps(turn, path, branch), {
        concurrency: "unbounded",
        discard: true,
      });
    case "repeat":
      return Effect.forEach(Array.from({ length: step.times }), () => runSteps(turn, path, step.steps), {
        discard: true,
      });
  }
};

const approvalFields = (step: StepOf<"approval">) => {
  const { do: _, on: _on, otherwise: _otherwise, ...fields } = step;
  return fields;
};

const caseFor = (step: StepOf<"question">, answers: Readonly<Record<string, unknown>>) =>
  step.cases?.find(({ when }) =>
    Object.entries(when).every(([id, wanted]) => {
      const given = answers[id];
      return Array.isArray(given) ? given.includes(wanted) : given === wanted;
    }),
  )?.steps;

const failed = (step: StepOf<"fail">): TurnEnd => {
  const {
    do: _,
    class: failureClass = "provider",
    message = "The script fails here.",
    retryable = false,
    ...rest
  } = step;
  return new TurnEnd({
    payload: { outcome: "failed", error: { class: failureClass, message, retryable, ...rest } },
  });
};

/** Pieces of `chunk` code units; cut wherever that falls, as runtimes do. */
const pieces = (text: string, chunk: number | undefined): ReadonlyArray<string> => {
  if (chunk === undefined) return text === "" ? [] : [text];
  return Array.from({ length: Math.ceil(text.length / chunk) }, (_, index) =>
    text.slice(index * chunk, (index + 1) * chunk),
  );
};

interface Streaming {
  readonly chunk?: number;
  readonly delayMs?: number;
}

const streamed = (text: string, how: Streaming, say: (piece: string) => Effect.Effect<void>): Effect.Effect<void> => {
  const { delayMs = 0 } = how;
  const pause = delayMs === 0 ? Effect.void : Effect.sleep(delayMs);
  return Effect.forEach(pieces(text, how.chunk), (piece) => Effect.andThen(pause, say(piece)), { discard: true });
};

/** Starts the item unless an earlier step did. */
const begin = Effect.fnUntraced(function* (turn: Turn, path: Path, itemId: string, itemType: ItemType) {
  if (turn.streamed.has(itemId)) return;
  turn.streamed.set(itemId, { text: "" });
  turn.items.set(itemId, { itemId, itemType, agentPath: path });
  yield* turn.say("item.started", path, { itemType, status: "in_progress" }, { itemId });
});

const text = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"text">) {
  const itemId = step.item ?? turn.nextItem();
  turn.lastTextItem = itemId;
  yield* begin(turn, path, itemId, "assistant_message");
  yield* streamed(turn.fill(step.text), step, (piece) => {
    grow(turn, itemId, piece);
    return turn.say("content.delta", path, { stream: "assistant_text", text: piece }, { itemId });
  });
  if (step.end === false) return;
  const whole = step.whole === false ? undefined : (step.whole ?? turn.streamed.get(itemId)?.text);
  yield* finish(turn, path, itemId, "assistant_message", whole);
});

const reasoning = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"reasoning">) {
  const itemId = step.item ?? turn.nextItem();
  yield* begin(turn, path, itemId, "reasoning");
  yield* streamed(turn.fill(step.text), step, (piece) =>
    turn.say("content.delta", path, { stream: step.stream ?? "reasoning", text: piece }, { itemId }),
  );
  if (step.end !== false) yield* finish(turn, path, itemId, "reasoning", undefined);
});

const grow = (turn: Turn, itemId: string, piece: string): void => {
  const so = turn.streamed.get(itemId);
  if (so?.text !== undefined) so.text += piece;
};

const finish = (turn: Turn, path: Path, itemId: string, itemType: ItemType, whole: string | undefined) => {
  turn.items.delete(itemId);
  turn.streamed.delete(itemId);
  return turn.say(
    "item.completed",
    path,
    { itemType, status: "completed", ...(whole === undefined ? {} : { text: whole }) },
    { itemId },
  );
};

const retract = (turn: Turn, path: Path, step: StepOf<"retract">) => {
  const itemId = step.item ?? turn.lastTextItem;
  if (itemId === undefined) return Effect.void;
  const so = turn.streamed.get(itemId);
  if (so !== undefined) so.text = undefined;
  return turn.say("content.retracted", path, { reason: step.reason }, { itemId });
};

const tool = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"tool">) {
  const itemId = step.item ?? turn.nextItem();
  const { itemType = "command", title, detail, input, changes, locations, ask } = step;
  const facts = {
    itemType,
    ...(title === undefined ? {} : { title: turn.fill(title) }),
    ...(detail === undefined ? {} : { detail: turn.fill(detail) }),
    ...(input === undefined ? {} : { input }),
    ...(locations === undefined ? {} : { locations }),
    ...(changes === undefined ? {} : { changes }),
  };
  turn.items.set(itemId, { itemId, itemType, agentPath: path });
  yield* turn.say("item.started", path, { ...facts, status: "in_progress" }, { itemId });
  if (ask !== undefined) {
    const { effect } = yield* askApproval(turn, path, ask, itemId);
    if (effect !== "allow") {
      turn.items.delete(itemId);
      yield* turn.say("item.completed", path, { itemType, status: "declined" }, { itemId });
      if (effect === "cancel") yield* new TurnEnd({ payload: { outcome: "interrupted" } });
      return;
    }
  }
  const isCommand = itemType === "command";
  const sayOutput = (piece: string) =>
    turn.say("content.delta", path, { stream: "command_output", text: piece }, { itemId });
  let output = turn.fill(step.output ?? "");
  let exitCode = step.exitCode;
  if (step.run !== undefined) {
    const ran = yield* runCommand(turn.fill(step.run), turn.around.cwd, isCommand ? sayOutput : () => Effect.void);
    output = ran.output;
    exitCode = ran.exitCode;
  } else if (isCommand) yield* streamed(output, step, sayOutput);
  if (step.end === false) return;
  turn.items.delete(itemId);
  yield* turn.say(
    "item.completed",
    path,
    {
      itemType,
      status: step.status ?? (exitCode === undefined || exitCode === 0 ? "completed" : "failed"),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(isCommand || output === "" ? {} : { output }),
    },
    { itemId },
  );
});

const proposedPlan = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"proposedPlan">) {
  const planId = step.planId ?? turn.around.mint("p");
  const markdown = turn.fill(step.markdown);
  if (step.chunk !== undefined)
    yield* streamed(markdown, step, (piece) => turn.say("proposed_plan.delta", path, { planId, text: piece }));
  yield* turn.say("proposed_plan.completed", path, { planId, markdown });
});

const flood = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"flood">) {
  const { count, text: piece = "flood ", stream = "assistant_text" } = step;
  const itemId = turn.nextItem();
  const itemType = stream === "command_output" ? "command" : stream === "reasoning" ? "reasoning" : "assistant_message";
  yield* begin(turn, path, itemId, itemType);
  for (let sent = 0; sent < count; sent += 1)
    yield* turn.say("content.delta", path, { stream, text: piece }, { itemId });
  yield* finish(turn, path, itemId, itemType, undefined);
});

const agent = Effect.fnUntraced(function* (turn: Turn, path: Path, step: StepOf<"agent">) {
  const itemId = turn.nextItem();
  const taskId = turn.around.mint("k");
  const kind = step.background === true ? "background" : "subagent";
  const title = step.title ?? step.name;
  const childPath = [...path, step.name];
  const call = { itemType: "tool", title } as const;
  yield* turn.say("item.started", path, { ...call, status: "in_progress" }, { itemId });
  yield* turn.say("task.started", path, { taskId, kind, title, agentPath: childPath, itemId });
  const done = turn.say("task.completed", path, {
    taskId,
    kind,
    status: step.status ?? "completed",
    ...(step.summary === undefined ? {} : { summary: turn.fill(step.summary) }),
  });
  const callDone = turn.say("item.completed", path, { ...call, status: "completed" }, { itemId });
  if (kind === "background") {
    yield* callDone;
    // A `fail` or `end` in a background agent ends that agent alone.
    yield* turn.around.background(Effect.andThen(Effect.ignore(runSteps(turn, childPath, step.steps)), done));
    return;
  }
  turn.items.set(itemId, { itemId, itemType: "tool", agentPath: path });
  turn.tasks.set(taskId, { taskId, kind, parentPath: path });
  yield* runSteps(turn, childPath, step.steps);
  turn.tasks.delete(taskId);
  yield* done;
  turn.items.delete(itemId);
  yield* callDone;
});
