/** `server.json`: where the server of a data folder listens, for the command line. There while it runs. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "@tributary/store";
import { ProcessIdentity } from "@tributary/contracts";
import { Schema } from "effect";
import { writePrivateFile } from "./config/private-file.ts";

const ServerFile = Schema.Struct({
  ...ProcessIdentity.fields,
  url: Schema.String,
  since: Schema.String,
  /** With TLS: its certificate, PEM. */
  certificate: Schema.optionalKey(Schema.String),
});
export type ServerFile = typeof ServerFile.Type;

const decode = Schema.decodeUnknownSync(ServerFile);

export const serverFile = (dir: string): string => join(dir, "server.json");

/** The running server of a data folder; undefined when there is none, also after one that was killed. */
export const findServer = (dir: string): ServerFile | undefined => {
  try {
    const found = decode(JSON.parse(readFileSync(serverFile(dir), "utf8")));
    return isAlive(found) ? found : undefined;
  } catch {
    return undefined;
  }
};

export const writeServerFile = (dir: string, server: ServerFile): void =>
  writePrivateFile(serverFile(dir), `${JSON.stringify(server)}\n`);

export const removeServerFile = (dir: string): void => rmSync(serverFile(dir), { force: true });
