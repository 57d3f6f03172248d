// Stands before a scripted agent and writes down every call that reaches it. The first call of one kind gets no answer: it
// is kept from the agent (`hang`), or done by it and never answered (`mute`). Once in a file's life, not once a process.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [log, method, fault, program] = process.argv.slice(2);
const done = `${log}.done`;
// Whoever kills the host wants to see that this is ended by its successor, and does not go by itself.
process.on("SIGHUP", () => {});
const agent = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
agent.on("exit", (code) => process.exit(code ?? 1));
agent.stdin.on("error", () => {});
process.stdout.on("error", () => {});

let unanswered;
createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line);
  const isChosen = call.method === method && !existsSync(done);
  if (isChosen) {
    writeFileSync(done, "");
    unanswered = call.id;
  }
  const { inputId, requestId } = call.params ?? {};
  // Written last: whoever reads it may kill at once.
  const note = () => appendFileSync(log, `${call.method} ${requestId ?? inputId ?? ""}\n`);
  if (isChosen && fault === "hang") note();
  else agent.stdin.write(`${line}\n`, note);
});
createInterface({ input: agent.stdout }).on("line", (line) => {
  let reply;
  try {
    ({ reply } = JSON.parse(line));
  } catch {
    // A line that is no frame goes through like any other.
  }
  if (reply === undefined || reply !== unanswered) process.stdout.write(`${line}\n`);
});
