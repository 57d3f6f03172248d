import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { InstanceConfig } from "@tributary/contracts";
import { loadAdapter } from "@tributary/providers";
import { codexEnvironment, codexHome, startMockModel, type RunningMockModel } from "@tributary/testkit";
import { makeFolders, type Setup } from "./adapter-host.ts";

/** The real Codex, a mock model and the adapter between them, with nothing of Tributary around it. */
export interface Codex {
  readonly mock: RunningMockModel;
  /** Bodies of the model requests, as text. */
  readonly requests: Array<string>;
  readonly setup: Setup;
  /** Another instance with a home of its own, not started yet. */
  readonly instance: (name: string, env?: Readonly<Record<string, string>>) => InstanceConfig;
  /** What a file of the project holds. */
  readonly written: (name: string) => string;
  readonly stop: () => Promise<void>;
}

export const startCodex = async (): Promise<Codex> => {
  const install = fileURLToPath(new URL("install.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [install]);
  const { codex: program } = JSON.parse(stdout) as { readonly codex: { readonly path: string } };
  const requests: Array<string> = [];
  const mock = await startMockModel({ onRequest: (_, body) => requests.push(JSON.stringify(body)) });
  const folder = mkdtempSync(join(tmpdir(), "tributary-codex-"));
  const adapter = await loadAdapter("codex");
  if (adapter === undefined) throw new Error("there is no codex adapter");
  const instance: Codex["instance"] = (name, env = {}) => {
    const { home } = makeFolders(join(folder, name), {});
    makeFolders(join(folder, name), codexHome(mock.url, home));
    return {
      id: name,
      runtime: "codex",
      command: program.path,
      home,
      env: { ...codexEnvironment(home), PATH: process.env["PATH"] ?? "", ...env },
    };
  };
  const setup = { adapter, instance: instance("main"), cwd: makeFolders(join(folder, "main"), {}).cwd };
  return {
    mock,
    requests,
    setup,
    instance,
    written: (name) => readFileSync(join(setup.cwd, name), "utf8"),
    stop: async () => {
      await mock.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
