/** The scenarios as a script of the scripted runtime, which finds its turn by the same markers. */
import { mockTexts as texts, planStages, mockQuestion } from "../../mock-model/index.ts";
import { failures, type FailureName } from "../driver.ts";

/** Any JSON of a script; the runtime checks it when it loads it. */
type Step = Readonly<Record<string, unknown>>;
interface Turn {
  readonly match: string;
  readonly steps: ReadonlyArray<Step>;
}

/** The one file that the script's file changes are about. */
export const scriptedFile = "notes.txt";
/** 200,000 code units are this many times this piece. */
export const hugePiece = "0123456789 the quick brown foxes 😀 the lazy dogs\n";
export const hugeCount = 200_000 / hugePiece.length;

export const scriptedModels: readonly [string, string] = ["scripted-1", "scripted-2"];

const marked = (name: string): string => `^\\[\\[${name}\\]\\]$`;
const withArgument = (name: string): string => marked(`${name}:([\\s\\S]*)`);
const say = (text: string, more: Step = {}): Step => ({ do: "text", text, chunk: 16, ...more });
const [half, rest] = [
  texts.plainText.slice(0, texts.plainText.length / 2),
  texts.plainText.slice(texts.plainText.length / 2),
];

const options: ReadonlyArray<Step> = [
  { id: "allow", label: "Allow once", effect: "allow", scope: "once" },
  { id: "allow_session", label: "Allow for this session", effect: "allow", scope: "session" },
  { id: "reject", label: "Reject", effect: "reject", scope: "once" },
  { id: "cancel", label: "Stop", effect: "cancel", scope: "once" },
];
const ask = { action: "command", title: "Run a command", subject: { command: "as the title says" }, options };
const run = (more: Step = {}): Step => ({ do: "tool", title: "{{match.1}}", run: "{{match.1}}", ...more });

const change = (kind: "add" | "update", diff: string, content: string): ReadonlyArray<Step> => {
  const changes = [{ path: scriptedFile, kind, diff }];
  return [
    say(texts.beforeToolText),
    {
      do: "tool",
      itemType: "file_change",
      title: scriptedFile,
      changes,
      ask: {
        action: "file_change",
        title: `Change ${scriptedFile}`,
        subject: { paths: [scriptedFile], changes },
        options,
      },
      run: `printf %s '${content}' > ${scriptedFile}`,
    },
    say(texts.afterToolText),
  ];
};

export const failMarker = (name: FailureName): string => `[[fail:${name}]]`;

const failing: ReadonlyArray<Turn> = Object.entries(failures).map(([name, failure]) => ({
  match: marked(`fail:${name}`),
  steps: [{ do: "fail", class: failure, message: `The script fails with ${name}.` }],
}));

const turns = (sockets: string): ReadonlyArray<Turn> => [
  {
    match: marked("text"),
    steps: [say(texts.plainText), { do: "usage", inputTokens: 20, outputTokens: 40, contextTokens: 60 }],
  },
  { match: withArgument("text"), steps: [say("{{match.1}}")] },
  { match: marked("unicode"), steps: [say(texts.unicodeText, { chunk: 3 })] },
  { match: marked("huge"), steps: [{ do: "flood", count: hugeCount, text: hugePiece }] },
  { match: marked("empty"), steps: [] },
  {
    match: marked("reasoning"),
    steps: [{ do: "reasoning", text: texts.reasoningText, chunk: 8 }, say(texts.afterReasoningText)],
  },
  {
    match: withArgument("gate"),
    steps: [
      say(half, { item: "held", end: false }),
      { do: "gate", socket: `${sockets}/{{match.1}}.sock` },
      say(rest, { item: "held" }),
    ],
  },
  { match: withArgument("shell"), steps: [say(texts.beforeToolText), run({ ask }), say(texts.afterToolText)] },
  { match: withArgument("again"), steps: [say(texts.beforeToolText), run(), say(texts.afterToolText)] },
  {
    match: marked("steer"),
    steps: [say(texts.beforeToolText), { do: "approval", ...ask }, { do: "awaitSteer" }, say("{{steer}}")],
  },
  { match: marked("write"), steps: change("add", `@@ -0,0 +1 @@\n+${texts.writtenText}`, texts.writtenText) },
  {
    match: marked("edit"),
    steps: change("update", `@@ -1 +1 @@\n-${texts.writtenText}+${texts.editedText}`, texts.editedText),
  },
  {
    match: marked("question"),
    steps: [
      { do: "question", questions: [{ ...mockQuestion, freeText: false }] },
      say(`You answered: {{answer.last.${mockQuestion.id}}}`),
    ],
  },
  {
    match: marked("plan"),
    steps: [say(texts.beforeToolText), ...planStages.map((steps) => ({ do: "plan", steps })), say(texts.afterPlanText)],
  },
  {
    match: marked("subagent"),
    steps: [
      say(texts.beforeToolText),
      { do: "agent", name: "child", steps: [say("from the child")] },
      say(texts.afterToolText),
    ],
  },
  {
    match: withArgument("subagent shell"),
    steps: [say(texts.beforeToolText), { do: "agent", name: "child", steps: [run({ ask })] }, say(texts.afterToolText)],
  },
  {
    match: marked("broken once"),
    steps: [say(half, { end: false }), { do: "retract", reason: "the stream broke" }, say(texts.plainText)],
  },
  ...failing,
];

const base = {
  model: undefined,
  capabilities: {
    models: scriptedModels,
    refusedOptions: { serviceTier: "a script has one speed" },
  },
};

/** The scripts of the driver's instances. `sockets`: the folder of the gates. */
export const scripts = (sockets: string) => ({
  // Its process outlives a host that is killed, as some agents do.
  main: { ...base, name: "conformance", on: { eof: "hang" }, turns: turns(sockets) },
  obedient: { ...base, name: "conformance", turns: turns(sockets) },
  keyless: { ...base, name: "keyless", otherwise: [{ do: "fail", class: "auth", message: "There is no key." }] },
  lost: { ...base, name: "lost", resume: "unavailable", turns: turns(sockets) },
});
