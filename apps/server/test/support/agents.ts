/** Scripted agents of the tests, as instances of a server. */
import { Effect } from "effect";
import type { TestServer } from "./server.ts";

/** Says something, asks for a command, asks a question, says what it heard. Quick: nothing is paced. */
export const asking = {
  name: "asking",
  otherwise: [
    { do: "text", text: "You said {{input}}.", chunk: 3 },
    {
      do: "tool",
      itemType: "command",
      title: "make",
      input: { command: "make" },
      ask: { name: "make", action: "command", title: "Run make?", subject: { command: "make" } },
      output: "done\n",
      exitCode: 0,
    },
    {
      do: "question",
      name: "tone",
      title: "How?",
      questions: [
        {
          id: "tone",
          text: "How?",
          options: [{ label: "Short" }, { label: "Long" }],
          multiple: false,
          freeText: true,
        },
      ],
    },
    { do: "text", text: "{{approval.make}}, {{answer.tone.tone}}.", chunk: 2 },
  ],
};

/** Streams a first sentence and then says nothing more, until it is stopped. */
export const silent = {
  name: "silent",
  otherwise: [{ do: "text", text: "I begin and", end: false }, { do: "silence" }],
};

export const addInstance = (server: Pick<TestServer, "call">, id: string, script: unknown, process = false) =>
  Effect.promise(async () => {
    const options = { script, ...(process ? { process } : {}) };
    const { status, body } = await server.call("/instances", { body: { id, runtime: "scripted", options } });
    if (status !== 200) throw new Error(JSON.stringify(body));
  });
