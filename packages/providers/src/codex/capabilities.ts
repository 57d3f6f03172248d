/** What a Codex session can do (docs/runtimes/codex.md has the evidence). */
import type { Capabilities } from "@tributary/contracts";

/** Options of `OpenOptions` that Codex can't honour, and why. */
const refusedOptions: Readonly<Record<string, string>> = {
  disallowedTools: "Codex switches off single MCP tools only, in its own configuration; its own tools stay",
};

/** Without models and efforts: those depend on the account and on the instance's provider, and are asked for. */
export const capabilities: Capabilities = {
  steer: true,
  // Codex has a durable queue of its own, but taking something back from it is experimental: ours is used.
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: true,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: false },
  refusedOptions,
};
