/** What the drivers of real programs share: the mock model, homes, and the relay. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InstanceConfig } from "@tributary/contracts";
import { startMockModel, type RunningMockModel } from "../../mock-model/index.ts";
import type { Driver } from "../driver.ts";

/** The arguments that put the relay before a program. */
export const relay = fileURLToPath(new URL("../relay.mjs", import.meta.url));

/** The same instance behind the relay. */
export const relayed = (instance: InstanceConfig, id: string): InstanceConfig => ({
  ...instance,
  id,
  command: process.execPath,
  args: [relay, instance.command ?? "", ...(instance.args ?? [])],
});

/** Makes a home folder with these files and gives its path. */
export const makeHome = (folder: string, name: string, files: (home: string) => Readonly<Record<string, string>>) => {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  for (const [file, content] of Object.entries(files(home))) writeFileSync(join(home, file), content);
  return home;
};

/** Starts the mock, and gives what of a driver depends on it alone. */
export const mockParts = async () => {
  const mock: RunningMockModel = await startMockModel();
  const parts = {
    gate: (name: string) => Promise.resolve({ held: mock.gateHeld(name), release: () => mock.releaseGate(name) }),
    reset: () => mock.reset(),
    urls: () => mock.journal().map(({ path }) => path),
    stop: () => mock.stop(),
  } satisfies Partial<Driver>;
  return { mock, parts };
};
