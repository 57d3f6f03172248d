/** What a session of Claude Code can do (docs/runtimes/claude.md has the evidence). */
import type { Capabilities } from "@tributary/contracts";

/** Options of `OpenOptions` that Claude Code can't honour, and why. */
const refusedOptions: Readonly<Record<string, string>> = {
  serviceTier: "Claude Code has no service tiers; its fast mode is switched in its own settings",
};

export const capabilities: Capabilities = {
  steer: true,
  // Its queue lives in the process: a message in it is lost with the process.
  queue: { durable: false, withdraw: true },
  approvals: true,
  userInput: true,
  images: true,
  attribution: "attributed",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: false },
  refusedOptions,
};
