import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { scenarios } from "./scenarios.ts";
import { startMockModel } from "./server.ts";

const usage = `The mock model server, by hand.

  node packages/testkit/src/mock-model/main.ts [--port N] [--dump DIR] [--list]

  --port N    listen on 127.0.0.1:N (default 18080; 0 takes a free one)
  --dump DIR  write the body of every model request to DIR/NNNN.json (what a runtime sends: tools, history)
  --list      print the scenarios and end

While it runs: GET /__mock/journal, POST /__mock/gates/NAME, POST /__mock/reset. Ends with Ctrl-C.
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "18080" },
    dump: { type: "string" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  say(usage);
} else if (values.list) {
  for (const { usage: line } of Object.values(scenarios)) say(line);
} else {
  const directory = values.dump;
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  const mock = await startMockModel({
    port: Number.parseInt(values.port, 10),
    onRequest: (entry, body) => {
      const chosen = entry.scenario === "" ? "no marker" : `[[${entry.scenario}${entry.arg && `:${entry.arg}`}]]`;
      say(`${entry.number} ${entry.dialect} ${entry.model} ${chosen} step ${entry.step}: ${entry.reply.join(", ")}`);
      if (directory === undefined) return;
      const file = join(directory, `${String(entry.number).padStart(4, "0")}.json`);
      writeFileSync(file, JSON.stringify(body, null, 2));
    },
  });
  say(`mock model listening on ${mock.url}`);
  const stop = (): void => void mock.stop();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
