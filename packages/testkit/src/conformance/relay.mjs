// Stands between a host and a program: `node relay.mjs PROGRAM ARGUMENTS…`. Passes stdin, stdout, stderr and the exit
// through as they are; SIGUSR2 closes the program's stdin, which nobody else could do from outside.
import { spawn } from "node:child_process";

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
process.stdin.pipe(child.stdin);
// A program that is gone reads no more; its exit tells.
child.stdin.on("error", () => {});
process.on("SIGUSR2", () => child.stdin.end());
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
