// Stands before a scripted agent and dies, agent and all, the moment it is sent the call that its first argument names.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [method, program] = process.argv.slice(2);
const agent = spawn(process.execPath, [program], { stdio: ["pipe", "inherit", "inherit"] });
agent.on("exit", (code) => process.exit(code ?? 1));
agent.stdin.on("error", () => {});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (JSON.parse(line).method === method) {
    agent.kill("SIGKILL");
    process.kill(process.pid, "SIGKILL");
  }
  agent.stdin.write(`${line}\n`);
});
lines.on("close", () => agent.stdin.end());
