import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceConfig } from "@tributary/contracts";
import { mockQuestion, mockTexts as texts, planStages } from "../../mock-model/index.ts";
import type { DriverSource, FailureName, Prompts } from "../driver.ts";
import { SocketGates } from "../world/gates.ts";
import { relay } from "./mock.ts";
import { mockPrompts } from "./mock-prompts.ts";
import { failMarker, hugePiece, hugeCount, scriptedFile, scriptedModels, scripts } from "./script.ts";

const fails = (name: FailureName): string => failMarker(name);

// A script remembers nothing.
const { memory: _, ...markers } = mockPrompts;

const prompts: Prompts = {
  ...markers,
  huge: () => ({ prompt: "[[huge]]", text: hugePiece.repeat(hugeCount) }),
  shellAgain: (command) => ({ ...mockPrompts.shellAgain(command), prompt: `[[again:${command}]]` }),
  steerable: () => ({ prompt: "[[steer]]", text: `${texts.beforeToolText}steered`, steered: "steered" }),
  write: () => ({ ...mockPrompts.write(scriptedFile), prompt: "[[write]]" }),
  edit: () => ({ ...mockPrompts.edit(scriptedFile), prompt: "[[edit]]" }),
  question: { prompt: "[[question]]", choice: mockQuestion.options[1]?.label ?? "", says: "Blue" },
  plan: { prompt: "[[plan]]", text: texts.beforeToolText + texts.afterPlanText, stages: planStages },
  subAgent: { ...mockPrompts.subAgent, prompt: "[[subagent]]" },
  subAgentShell: (command) => ({ prompt: `[[subagent shell:${command}]]` }),
  fails: {
    "context overflow": fails("context overflow"),
    "401": fails("401"),
    "402": fails("402"),
    "429": fails("429"),
    "500": fails("500"),
    "a stream that always breaks": fails("a stream that always breaks"),
  },
  brokenOnce: { prompt: "[[broken once]]", text: texts.plainText },
};

/** The scripted runtime in child processes. `child`: the path of its program, for the instance behind the relay. */
export const scriptedDriver = (program: {
  readonly child: string;
  readonly env?: Readonly<Record<string, string>>;
}): DriverSource => ({
  runtime: "scripted",
  pin: "1",
  start: ({ folder, env }) => {
    const sockets = join(folder, "gates");
    mkdirSync(sockets);
    const gates = new SocketGates(sockets);
    const script = scripts(sockets);
    const instance = (name: keyof typeof script, process: boolean, more: Partial<InstanceConfig> = {}) => {
      const path = join(folder, `${name}.json`);
      writeFileSync(path, JSON.stringify(script[name]));
      return {
        id: name,
        runtime: "scripted",
        options: { script: path, process },
        env: { ...program.env, ...env },
        ...more,
      };
    };
    return Promise.resolve({
      instances: {
        main: instance("main", true),
        light: instance("main", false, { id: "light" }),
        keyless: instance("keyless", false),
        relayed: instance("obedient", true, {
          command: process.execPath,
          args: [relay, process.execPath, program.child],
        }),
        lost: { instance: instance("lost", false), nativeSessionId: "a-session-that-is-gone" },
      },
      prompts,
      outlivesHost: true,
      model: scriptedModels[1],
      gate: (name) => gates.make(name),
      reset: () => gates.clear(),
      urls: () => [],
      stop: () => Promise.resolve(gates.clear()),
    });
  },
});
