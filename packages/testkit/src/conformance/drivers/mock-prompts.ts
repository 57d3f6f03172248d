/** The scenarios as markers of the mock model: for every runtime that is pointed at it. */
import { mockQuestion, mockTexts as texts, planStages } from "../../mock-model/index.ts";
import type { Prompts } from "../driver.ts";

const halfOf = (text: string): string => text.slice(0, Math.floor(text.length / 2));
const lines = (prefix: string, text: string): ReadonlyArray<string> => [`${prefix}${text.trimEnd()}`];
const aroundTool = texts.beforeToolText + texts.afterToolText;

export const mockPrompts: Prompts = {
  says: (words) => ({ prompt: `[[text:${words}]]`, text: words }),
  text: { prompt: "[[text]]", text: texts.plainText },
  unicode: { prompt: "[[unicode]]", text: texts.unicodeText },
  huge: (length) => ({ prompt: `[[huge:${length}]]`, text: texts.hugeText(length) }),
  empty: { prompt: "[[empty]]", text: "" },
  reasoning: { prompt: "[[reasoning]]", reasoning: texts.reasoningText, text: texts.afterReasoningText },
  gate: (name) => ({ prompt: `[[gate:${name}]]`, before: halfOf(texts.plainText), text: texts.plainText }),
  shell: (command) => ({ prompt: `[[shell:${command}]]`, text: aroundTool, rejected: aroundTool }),
  shellAgain: (command) => ({ prompt: `[[shell:${command}]]`, text: aroundTool }),
  // The model answers the newest message in its next request.
  steerable: (command) => ({
    prompt: `[[shell:${command}]]`,
    text: `${texts.beforeToolText}steered`,
    steered: "[[text:steered]]",
  }),
  write: (path) => ({
    prompt: `[[write:${path}]]`,
    text: aroundTool,
    content: texts.writtenText,
    diff: lines("+", texts.writtenText),
  }),
  edit: (path) => ({
    prompt: `[[edit:${path}]]`,
    text: aroundTool,
    content: texts.editedText,
    diff: [...lines("-", texts.writtenText), ...lines("+", texts.editedText)],
  }),
  question: { prompt: "[[question]]", choice: mockQuestion.options[1]?.label ?? "", says: "Blue" },
  plan: { prompt: "[[plan]]", text: texts.beforeToolText + texts.afterPlanText, stages: planStages },
  subAgent: { prompt: "[[subagent:[[text:from the child]]]]", text: aroundTool, child: "from the child" },
  subAgentShell: (command) => ({ prompt: `[[subagent:[[shell:${command}]]]]` }),
  fails: {
    "context overflow": "[[err:400ctx]]",
    "401": "[[err:401]]",
    "402": "[[err:402]]",
    "429": "[[err:429]]",
    "500": "[[err:500]]",
    "a stream that always breaks": "[[cut:40,always]]",
  },
  brokenOnce: { prompt: "[[cut:40]]", text: texts.plainText },
  memory: { prompt: "[[echo]]", count: (text) => Number.parseInt(text, 10) },
};
