import { commands } from "./core/commands.ts";
import { growing } from "./core/growing.ts";
import { newestPage } from "./core/pages.ts";
import { longLog } from "./core/long-log.ts";
import { withFolder, type BenchContext } from "./harness.ts";

/** The log and what is made of it: writer, deciders, projections, pages. Design section 12, without runtimes or wire. */
export const core = (context: BenchContext): Promise<void> =>
  withFolder(async (folder) => {
    for (const part of [commands, growing, newestPage, longLog]) await part(context, folder);
  });
