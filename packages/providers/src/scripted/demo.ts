import type { Script } from "./script.ts";

const brisk = { chunk: 6, delayMs: 25 } as const;

/**
 * The built-in script: a friendly text, a command that asks first, a question, and a closing text that says what was
 * answered. Shows every kind of thing a thread can hold without an account, a network or a model.
 */
export const demo: Script = {
  name: "demo",
  turns: [],
  otherwise: [
    {
      do: "text",
      ...brisk,
      text: "Hello! I am Tributary's demo agent. You said: “{{input}}”.\n\nI can't think, but I can show you around: first I would like to look at your files. Nothing is really run.",
    },
    {
      do: "plan",
      steps: [
        { text: "Look at the files", status: "in_progress" },
        { text: "Ask a question", status: "pending" },
        { text: "Say goodbye", status: "pending" },
      ],
    },
    {
      do: "tool",
      itemType: "command",
      title: "ls -a",
      input: { command: "ls -a" },
      ask: { name: "list", action: "command", title: "Run `ls -a`?", subject: { command: "ls -a" } },
      output: ".\n..\nREADME.md\npackage.json\nsrc\n",
      chunk: 9,
      delayMs: 60,
      exitCode: 0,
    },
    {
      do: "plan",
      steps: [
        { text: "Look at the files", status: "completed" },
        { text: "Ask a question", status: "in_progress" },
        { text: "Say goodbye", status: "pending" },
      ],
    },
    {
      do: "question",
      name: "tone",
      title: "How should I say goodbye?",
      questions: [
        {
          id: "tone",
          header: "Tone",
          text: "How should I say goodbye?",
          options: [
            { label: "Short", description: "One word" },
            { label: "Warm", description: "A whole sentence" },
            { label: "In verse", description: "Two lines that rhyme" },
          ],
          multiple: false,
          freeText: true,
        },
      ],
      cases: [
        { when: { tone: "Short" }, steps: [{ do: "text", ...brisk, text: "Bye." }] },
        {
          when: { tone: "Warm" },
          steps: [{ do: "text", ...brisk, text: "Thank you for trying me out, and have a lovely day!" }],
        },
        {
          when: { tone: "In verse" },
          steps: [
            {
              do: "text",
              ...brisk,
              text: "The stream runs on when I have gone,\nyour thread is kept from dusk till dawn.",
            },
          ],
        },
      ],
      otherwise: [{ do: "text", ...brisk, text: "You asked for “{{answer.tone.tone}}”: goodbye, then." }],
    },
    {
      do: "text",
      ...brisk,
      text: "For the record: your answer to the command was “{{approval.list}}”, and to my question “{{answer.tone.tone}}”.",
    },
    {
      do: "plan",
      steps: [
        { text: "Look at the files", status: "completed" },
        { text: "Ask a question", status: "completed" },
        { text: "Say goodbye", status: "completed" },
      ],
    },
    { do: "usage", inputTokens: 120, outputTokens: 96, basis: "turn" },
  ],
};
