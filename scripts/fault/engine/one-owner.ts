import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Findings } from "../findings.ts";
import { withFolders } from "../folders.ts";
import { get, runToEnd, startServer } from "../server.ts";

/** A second process on a data folder is told who has it, and changes nothing. */
export const oneOwner = (findings: Findings): Promise<void> =>
  withFolders("owner", async ({ data, work }) => {
    const server = await startServer(data, work);
    const second = ["serve", "--port", "0", "--json", "--data", data];
    const told = await runToEnd(second, work);
    findings.expect(told.code !== 0, "a second server of a data folder starts");
    findings.expect(told.stderr.includes(String(server.pid)), "a second server is not told who is first", told.stderr);

    // Without the note that the first one left for the command line, the lock itself has to say it.
    const note = join(data, "server.json");
    renameSync(note, `${note}.away`);
    const refused = await runToEnd(second, work);
    findings.expect(refused.code !== 0, "a second server opens a locked data folder");
    findings.expect(
      refused.stderr.includes("in use by process") && refused.stderr.includes(String(server.pid)),
      "the lock does not say who has it",
      refused.stderr,
    );
    if (existsSync(`${note}.away`)) renameSync(`${note}.away`, note);

    const { status } = await get(server.call, "/health");
    findings.expect(status === "ok", "the first server is disturbed", status);
    await server.stop();
    const after = await startServer(data, work);
    findings.expect((await after.stop()) !== 1, "the data folder can't be opened afterwards", after.complaints());
    findings.figure("second processes on one data folder, told who has it", 2);
  });
