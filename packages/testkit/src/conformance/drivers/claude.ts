import { claudeEnvironment, claudeModel } from "../../mock-model/index.ts";
import type { DriverSource } from "../driver.ts";
import { makeHome, mockParts, relayed } from "./mock.ts";
import { mockPrompts } from "./mock-prompts.ts";

/** Claude Code against the mock model. */
export const claudeDriver = (program: { readonly command: string }): DriverSource => ({
  runtime: "claude",
  pin: "2.1.332",
  start: async ({ folder, env }) => {
    const { mock, parts } = await mockParts();
    const home = makeHome(folder, "claude", () => ({}));
    const { ANTHROPIC_API_KEY: key = "", ...keyless } = { ...claudeEnvironment(mock.url, home), HOME: folder };
    const instance = { runtime: "claude", command: program.command, home };
    const main = { ...instance, id: "claude", env: { ...keyless, ANTHROPIC_API_KEY: key, ...env } };
    return {
      ...parts,
      instances: {
        main,
        keyless: { ...instance, id: "claude-keyless", env: { ...keyless, ...env } },
        relayed: relayed(main, "claude-relayed"),
        lost: { instance: main, nativeSessionId: "00000000-0000-4000-8000-000000000000" },
      },
      prompts: mockPrompts,
      thread: { model: claudeModel },
      model: claudeModel,
    };
  },
});
