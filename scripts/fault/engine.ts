import { clockJumpsBack } from "./engine/clock.ts";
import { commandsUnderKill } from "./engine/commands.ts";
import { crashesInReactors } from "./engine/crashes.ts";
import { oneOwner } from "./engine/one-owner.ts";
import { races } from "./engine/races.ts";
import { unrulyRuntimes } from "./engine/unruly.ts";
import { Findings } from "./findings.ts";
import type { FaultContext } from "./main.ts";
import { numbersOf, someSeed } from "./options.ts";

/** Commands and effects: what was acknowledged, who is first, and that a person can always stop. */
export const engine = async ({ args }: FaultContext): Promise<void> => {
  const given = numbersOf(args, { kills: 200, times: 200, crashes: 10, seed: someSeed() });
  const findings = await engineFaults(given);
  findings.finish("engine");
};

export const engineFaults = async (options: {
  readonly kills: number;
  readonly times: number;
  readonly crashes: number;
  readonly seed: number;
}): Promise<Findings> => {
  const findings = new Findings(options.seed);
  await unrulyRuntimes(findings);
  await oneOwner(findings);
  await crashesInReactors(findings, options.crashes);
  await clockJumpsBack(findings);
  await races(findings, options.times);
  await commandsUnderKill(findings, options);
  return findings;
};
