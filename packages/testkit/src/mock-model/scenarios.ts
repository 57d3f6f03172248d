import { planFileOf, resultsSinceLastUser, userMessages } from "./conversation.ts";
import { errorOf } from "./errors.ts";
import type { Part, PlanStep, Question, Reply, Scenario } from "./scenario.ts";
import * as texts from "./texts.ts";
import { findTool } from "./tools.ts";

const text = (content: string, options: { chunk?: number; delayMs?: number } = {}): Part => ({
  kind: "text",
  text: content,
  ...options,
});
const reply = (...parts: ReadonlyArray<Part>): Reply => ({ parts });
const shell = (command: string): Part => ({ kind: "tool", intent: { purpose: "shell", command } });

/** `a,b` → numbers, with defaults where one is missing or no number. */
const numbers = (arg: string, ...defaults: ReadonlyArray<number>): ReadonlyArray<number> => {
  const given = arg.split(",").map((part) => Number.parseInt(part, 10));
  return defaults.map((fallback, index) => {
    const number = given[index];
    return number === undefined || Number.isNaN(number) ? fallback : number;
  });
};

/** Fails the first N attempts, `always` or nothing given: as said. */
const failing = (parts: ReadonlyArray<Part>, times: string | undefined, fallback: number): Reply => {
  if (times === "always") return { parts };
  const count = Number.parseInt(times ?? "", 10);
  const attempts = Number.isNaN(count) ? fallback : count;
  return attempts === Infinity ? { parts } : { parts, attempts: { times: attempts, later: [text(texts.plainText)] } };
};

/** A shell that outlives a polite stop: it and its child ignore TERM and INT. */
export const stubbornCommand = (seconds: number): string => `trap '' TERM INT; sleep ${seconds}; echo woke up`;

export const mockQuestion: Question = {
  id: "colour",
  header: "Colour",
  text: "Which colour do you want?",
  options: [
    { label: "Red", description: "a red one" },
    { label: "Blue", description: "a blue one" },
  ],
  multiple: false,
};

const planSteps = (first: PlanStep["status"], second: PlanStep["status"], third: PlanStep["status"]) => [
  { text: "Look at the code", status: first },
  { text: "Change it", status: second },
  { text: "Test it", status: third },
];

/** The to-do list as `[[plan]]` tells it the first and the second time. */
export const planStages: readonly [ReadonlyArray<PlanStep>, ReadonlyArray<PlanStep>] = [
  planSteps("in_progress", "pending", "pending"),
  planSteps("completed", "in_progress", "pending"),
];

/** Every scenario by its marker name. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  text: {
    usage: "[[text]] or [[text:WORDS]]: a text in small pieces",
    replies: (arg) => [reply(text(arg === "" ? texts.plainText : arg))],
  },
  unicode: {
    usage: "[[unicode]]: emoji, combining marks, U+2028, right-to-left",
    replies: () => [reply(text(texts.unicodeText, { chunk: 3 }))],
  },
  huge: {
    usage: "[[huge:CHARS]] or [[huge:CHARS,CHUNK]]: numbered lines, exactly CHARS UTF-16 code units",
    replies: (arg) => {
      const [length = 0, chunk = 0] = numbers(arg, 100_000, 256);
      return [reply(text(texts.hugeText(length), { chunk }))];
    },
  },
  slow: {
    usage: "[[slow:WORDS,DELAY_MS]]: one word a delta, a pause before each",
    replies: (arg) => {
      const [count = 0, delayMs = 0] = numbers(arg, 40, 50);
      return [reply(text(texts.slowText(count), { chunk: 8, delayMs }))];
    },
  },
  reasoning: {
    usage: "[[reasoning]]: reasoning, then text",
    replies: () => [reply({ kind: "reasoning", text: texts.reasoningText }, text(texts.afterReasoningText))],
  },
  shell: {
    usage: "[[shell:COMMAND]]: the runtime's shell tool, then text",
    replies: (arg) => [
      reply(text(texts.beforeToolText), shell(arg === "" ? "echo hi" : arg)),
      reply(text(texts.afterToolText)),
    ],
  },
  steps: {
    usage: "[[steps:N]]: N shell calls one after another, text before each",
    replies: (arg) => {
      const [count = 0] = numbers(arg, 3);
      const calls = Array.from({ length: count }, (_, index) =>
        reply(text(`Step ${index + 1}.`), shell(`echo step-${index + 1}`)),
      );
      return [...calls, reply(text(texts.afterToolText))];
    },
  },
  two_tools: {
    usage: "[[two_tools]]: two shell calls in one reply",
    replies: () => [
      reply(text(texts.beforeTwoToolsText), shell("echo one"), shell("echo two")),
      reply(text(texts.afterToolText)),
    ],
  },
  slow_shell: {
    usage: "[[slow_shell]] or [[slow_shell:SECONDS]]: a command that ignores TERM and sleeps",
    replies: (arg) => {
      const [seconds = 0] = numbers(arg, 30);
      return [reply(text(texts.beforeToolText), shell(stubbornCommand(seconds))), reply(text(texts.afterToolText))];
    },
  },
  write: {
    usage: "[[write:PATH]]: creates a file with the runtime's file tool",
    replies: (arg) => [
      reply(text(texts.beforeToolText), {
        kind: "tool",
        intent: { purpose: "write", path: arg === "" ? "mock.txt" : arg, content: texts.writtenText },
      }),
      reply(text(texts.afterToolText)),
    ],
  },
  edit: {
    usage: "[[edit:PATH]]: changes a file that [[write:PATH]] made",
    replies: (arg, conversation) => {
      const path = arg === "" ? "mock.txt" : arg;
      const read: Part = { kind: "tool", intent: { purpose: "read", path } };
      const edit: Part = {
        kind: "tool",
        intent: { purpose: "edit", path, before: texts.writtenText, after: texts.editedText },
      };
      const reads = findTool(conversation.tools, "read") === undefined ? [] : [reply(read)];
      return [...reads, reply(text(texts.beforeToolText), edit), reply(text(texts.afterToolText))];
    },
  },
  question: {
    usage: "[[question]]: asks the person through the runtime's question tool, then repeats the answer",
    replies: (_arg, conversation) => [
      reply({ kind: "tool", intent: { purpose: "question", questions: [mockQuestion] } }),
      reply(text(texts.answeredText(resultsSinceLastUser(conversation).join("\n")))),
    ],
  },
  plan: {
    usage: "[[plan]]: the runtime's to-do list, told twice",
    replies: () => {
      const [first, second] = planStages;
      return [
        reply(text(texts.beforeToolText), { kind: "tool", intent: { purpose: "plan", steps: first } }),
        reply({ kind: "tool", intent: { purpose: "plan", steps: second, previous: first } }),
        reply(text(texts.afterPlanText)),
      ];
    },
  },
  exit_plan: {
    usage: "[[exit_plan]]: proposes a plan (Claude: the plan file, then ExitPlanMode; others: a <proposed_plan> block)",
    replies: (_arg, conversation) => {
      const path = planFileOf(conversation);
      const content = texts.proposedPlanText;
      const file = path === undefined ? [] : [reply({ kind: "tool", intent: { purpose: "write", path, content } })];
      const propose = reply({ kind: "tool", intent: { purpose: "exit_plan", plan: content } });
      return [...file, propose, reply(text(texts.afterPlanText))];
    },
  },
  subagent: {
    usage: "[[subagent:PROMPT]]: a sub-agent whose prompt may hold a marker of its own, e.g. [[subagent:[[text]]]]",
    replies: (arg, conversation) => {
      const spawn: Part = {
        kind: "tool",
        intent: { purpose: "subagent", title: "Mock sub-agent", prompt: arg === "" ? "[[text]]" : arg },
      };
      const waits = findTool(conversation.tools, "wait_subagent") !== undefined;
      const wait = waits ? [reply({ kind: "tool", intent: { purpose: "wait_subagent" } })] : [];
      return [reply(text(texts.beforeToolText), spawn), ...wait, reply(text(texts.afterToolText))];
    },
  },
  err: {
    usage: "[[err:CODE]] or [[err:CODE,TIMES]]: 400, 400ctx, 401, 402, 403, 404, 429, 429quota, 500, 503, 529",
    replies: (arg) => {
      const [code = "500", times] = arg.split(",");
      return [failing([{ kind: "error", error: errorOf(code) }], times, Infinity)];
    },
  },
  err_mid: {
    usage: "[[err_mid:CODE]] or [[err_mid:CODE,TIMES]]: half of the text, then an error inside the stream",
    replies: (arg) => {
      const [code = "500", times] = arg.split(",");
      const half = texts.plainText.slice(0, texts.plainText.length / 2);
      return [failing([text(half), { kind: "error", error: errorOf(code) }], times, Infinity)];
    },
  },
  cut: {
    usage: "[[cut:CHARS]], [[cut:CHARS,TIMES]] or [[cut:CHARS,always]]: the stream breaks after CHARS, once by default",
    replies: (arg) => {
      const [length = 0] = numbers(arg, 40);
      return [failing([text(texts.plainText.slice(0, length)), { kind: "cut" }], arg.split(",")[1], 1)];
    },
  },
  empty: {
    usage: "[[empty]]: a well-formed answer without content",
    replies: () => [reply()],
  },
  gate: {
    usage: "[[gate:NAME]]: half of the text, waits until the gate is released, then the rest",
    replies: (arg) => {
      const middle = Math.floor(texts.plainText.length / 2);
      return [
        reply(
          text(texts.plainText.slice(0, middle)),
          { kind: "gate", name: arg === "" ? "gate" : arg },
          text(texts.plainText.slice(middle)),
        ),
      ];
    },
  },
  echo: {
    usage: "[[echo]]: how many user messages the request holds, and the last of them",
    replies: (_arg, conversation) => [reply(text(texts.echoText(userMessages(conversation))))],
  },
  call: {
    usage: "[[call:TOOL {json}]]: calls a tool by its exact name",
    replies: (arg) => {
      const [tool = "", ...rest] = arg.split(" ");
      return [
        reply({ kind: "tool", intent: { purpose: "named", tool, input: parsed(rest.join(" ")) } }),
        reply(text(texts.afterToolText)),
      ];
    },
  },
};

/** JSON where it is JSON, else the plain text (for freeform tools). */
const parsed = (source: string): unknown => {
  if (source === "") return {};
  try {
    return JSON.parse(source);
  } catch {
    return source;
  }
};
