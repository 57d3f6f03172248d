import type { Call } from "../server.ts";
import { post } from "../server.ts";

/** Every so often a character of two code units, so that pieces cut it in two. */
const number = (n: number): string => `${String(n).padStart(4, "0")}${n % 9 === 0 ? "😀" : "."}`;

const count = (mark: string, numbers: number): string =>
  `/${mark}:${Array.from({ length: numbers }, (_, n) => number(n)).join("")}`;

/** A text that says which input it answers, what it is, and counts. */
interface Counted {
  readonly mark: string;
  readonly numbers: number;
}

const marks = {
  reasoning: { mark: "r", numbers: 40 },
  first: { mark: "a", numbers: 80 },
  helper: { mark: "h", numbers: 60 },
  beside: { mark: "b", numbers: 60 },
  last: { mark: "z", numbers: 80 },
  /** Beyond the cap of a segment (24,000 code units). */
  torrent: { mark: "t", numbers: 8_000 },
} as const satisfies Record<string, Counted>;

const said = ({ mark, numbers }: Counted): string => `{{input}}${count(mark, numbers)}`;

/** Whole texts that an agent may have begun for an input. */
export const textsFor = (input: string): ReadonlyArray<string> =>
  Object.values(marks).map(({ mark, numbers }) => `${input}${count(mark, numbers)}`);

/** The input that a text answers, once it says so. */
export const inputOf = (text: string): string | undefined => /^([\w-]+)\//.exec(text)?.[1];

const turn = (delayMs: number, first: Counted) => [
  { do: "reasoning", text: said(marks.reasoning), chunk: 9, delayMs },
  { do: "text", text: said(first), chunk: 7, delayMs },
  { do: "tool", itemType: "command", title: "count", output: "1\n2\n3\n".repeat(40), chunk: 11, delayMs, exitCode: 0 },
  {
    do: "parallel",
    branches: [
      [{ do: "agent", name: "helper", steps: [{ do: "text", text: said(marks.helper), chunk: 5, delayMs }] }],
      [{ do: "text", text: said(marks.beside), chunk: 13, delayMs }],
    ],
  },
  { do: "approval", name: "go", action: "command", title: "Go on?", subject: { command: "make" } },
  {
    do: "question",
    name: "how",
    title: "How?",
    questions: [{ id: "how", text: "How?", options: [{ label: "Short" }], multiple: false, freeText: true }],
  },
  { do: "text", text: said(marks.last), chunk: 3, delayMs },
];

/** The agents: paced; as fast as the pipe takes it; and one that outlives its host with a shell in a session of its own. */
const agents = {
  steady: { name: "steady", otherwise: turn(2, marks.first) },
  torrent: { name: "torrent", otherwise: turn(0, marks.torrent) },
  stubborn: {
    name: "stubborn",
    on: { eof: "hang" },
    otherwise: [
      { do: "tool", itemType: "command", title: "server", run: "setsid sleep 600 >/dev/null 2>&1 & echo begun" },
      ...turn(1, marks.first),
    ],
  },
} as const;

export const agentOf = (thread: number): keyof typeof agents =>
  thread % 5 === 1 ? "torrent" : thread % 5 === 3 ? "stubborn" : "steady";

export const addAgents = async (call: Call): Promise<void> => {
  for (const [id, script] of Object.entries(agents))
    await post(call, "/instances", { id, runtime: "scripted", options: { script, process: true } });
};
