import type { CaseGroup } from "../case.ts";
import { deaths } from "./deaths.ts";
import { endings } from "./endings.ts";
import { failures } from "./failures.ts";
import { interrupts } from "./interrupts.ts";
import { requests } from "./requests.ts";
import { settings } from "./settings.ts";
import { steering } from "./steering.ts";
import { turns } from "./turns.ts";
import { wire } from "./wire.ts";

/** What "supported" means: every instance passes every case that its declared capabilities do not leave out. */
export const groups: ReadonlyArray<CaseGroup> = [
  turns,
  steering,
  requests,
  interrupts,
  endings,
  deaths,
  failures,
  settings,
  wire,
];
