/**
 * How a command reaches Tributary: a server that `--server` names, the running server of the data folder, or the parts
 * themselves in this process. It is the same API in all three, so a command does not care.
 */
import { Effect } from "effect";
import type { Scope } from "effect";
import { locateDataFolder } from "../config/data-folder.ts";
import { loadToken, tokenFile } from "../config/token.ts";
import { findServer } from "../server-file.ts";
import { makeClient } from "./client.ts";
import type { Access, ApiClient } from "./client.ts";
import { asFailure, usage } from "./failure.ts";
import type { CliFailure } from "./failure.ts";
import { oneLine } from "./output.ts";
import type { Target } from "./root.ts";

export interface Connection {
  readonly access: Access;
  readonly client: ApiClient;
  /** Whether this is the data folder's owner on its own machine: then a folder may be registered on the way. */
  readonly isOwner: boolean;
  readonly via: "server" | "process";
}

/**
 * What is started when no server runs. `everything`: agents too, as a server would. `store`: reading only, nothing that
 * waits is begun. `nothing`: the command makes sense with a running server alone.
 */
export type Depth = "everything" | "store" | "nothing";

const remote = Effect.fnUntraced(function* (baseUrl: string, file: string, isOwner: boolean, certificate?: string) {
  const token = yield* Effect.mapError(loadToken(file), asFailure);
  const fetch =
    certificate === undefined
      ? globalThis.fetch
      : (yield* Effect.promise(() => import("./pinned-fetch.ts"))).pinnedFetch(certificate);
  const access: Access = { baseUrl, token, fetch };
  return { access, client: yield* makeClient(access), isOwner, via: "server" } satisfies Connection;
});

const inProcess = Effect.fnUntraced(function* (dir: string, depth: Exclude<Depth, "nothing">) {
  const { openInProcess } = yield* Effect.promise(() => import("./in-process.ts"));
  const access = yield* Effect.mapError(openInProcess(dir, depth), asFailure);
  return { access, client: yield* makeClient(access), isOwner: true, via: "process" } satisfies Connection;
});

/** The address that `--server` names, without a slash at its end. */
export const serverUrl = (server: string): Effect.Effect<string, CliFailure> =>
  /^https?:\/\//.test(server) && URL.canParse(server)
    ? Effect.succeed(server.replace(/\/$/, ""))
    : Effect.fail(usage(`--server takes an address such as http://127.0.0.1:4417, not “${oneLine(server)}”.`));

/** Connects as the shared flags say. */
export const connect = Effect.fn("cli.connect")(function* (
  target: Target,
  depth: Depth,
): Effect.fn.Return<Connection, CliFailure, Scope.Scope> {
  const dir = yield* Effect.mapError(locateDataFolder(target.data), asFailure);
  const file = target.tokenFile ?? tokenFile(dir);
  if (target.server !== undefined) return yield* remote(yield* serverUrl(target.server), file, false);
  const running = findServer(dir);
  if (running !== undefined) return yield* remote(running.url, file, true, running.certificate);
  if (depth === "nothing")
    return yield* usage(`No server runs for ${dir}: start one with \`tributary serve\`, or name one with --server.`);
  return yield* inProcess(dir, depth);
});
