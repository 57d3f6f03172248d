import { codexEnvironment, codexHome, codexModel } from "../../mock-model/index.ts";
import type { DriverSource } from "../driver.ts";
import { makeHome, mockParts, relayed } from "./mock.ts";
import { mockPrompts } from "./mock-prompts.ts";

/** Codex against the mock model. `command`: its own program, not the wrapper that npm puts on the path. */
export const codexDriver = (program: { readonly command: string }): DriverSource => ({
  runtime: "codex",
  pin: "0.171.0",
  start: async ({ folder, env }) => {
    const { mock, parts } = await mockParts();
    const home = makeHome(folder, "codex", (path) => codexHome(mock.url, path));
    const { MOCK_API_KEY: key = "", ...keyless } = codexEnvironment(home);
    const instance = { runtime: "codex", command: program.command, home };
    const main = { ...instance, id: "codex", env: { ...keyless, MOCK_API_KEY: key, ...env } };
    return {
      ...parts,
      instances: {
        main,
        keyless: { ...instance, id: "codex-keyless", env: { ...keyless, ...env } },
        relayed: relayed(main, "codex-relayed"),
        lost: { instance: main, nativeSessionId: "00000000-0000-7000-8000-000000000000" },
      },
      // Codex asks questions in plan mode only.
      prompts: { ...mockPrompts, question: { ...mockPrompts.question, interactionMode: "plan" } },
      model: `${codexModel}-mini`,
      effort: "low",
    };
  },
});
