/** `tributary serve`: Tributary as a server of this machine. */
import { DateTime, Effect, Layer } from "effect";
import { identityOf } from "@tributary/store";
import { locateDataFolder } from "../config/data-folder.ts";
import { tokenFile } from "../config/token.ts";
import { Core } from "../core.ts";
import { Closing } from "../http/Closing.ts";
import { EventPages } from "../http/EventPages.ts";
import { addressOf, serveHttp } from "../http/listen.ts";
import { Tokens } from "../http/Tokens.ts";
import { Instances } from "../Instances.ts";
import { findServer, removeServerFile, writeServerFile } from "../server-file.ts";
import { asFailure, failure, usage } from "./failure.ts";
import { onSignal } from "./interrupts.ts";
import { print, printJson } from "./output.ts";
import type { Target } from "./root.ts";

export interface ServeOptions {
  readonly target: Target;
  readonly host: string;
  readonly port: number | undefined;
}

const announce = Effect.fnUntraced(function* (dir: string, url: string, json: boolean) {
  const instances = yield* Instances;
  if (json) return yield* printJson({ url, dir, tokenFile: tokenFile(dir) });
  yield* print(
    `Tributary is ready at ${url}\n` +
      `  documentation  ${url}/docs\n` +
      `  data folder    ${dir}\n` +
      `  token          ${tokenFile(dir)}\n`,
  );
  // Programs are asked for their version: that may take a second, and nothing waits for it.
  const views = yield* instances.views;
  const found = views.filter(({ installation }) => installation.available);
  yield* print(
    `  agents         ${found.map(({ id, installation }) => (installation.version === undefined ? id : `${id} ${installation.version}`)).join(", ") || "none found"}\n` +
      `\nTry it, in another terminal:\n  npx tributary run ${found[0]?.id ?? "demo"} "hello"\n`,
  );
});

/** The server of a folder announces itself to the command line while it runs. */
const registered = (dir: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const url = yield* addressOf;
      const since = DateTime.formatIso(yield* DateTime.now);
      const identity = identityOf(process.pid) ?? { pid: process.pid, startTime: "", bootId: "" };
      yield* Effect.acquireRelease(
        Effect.sync(() => writeServerFile(dir, { ...identity, url, since })),
        () => Effect.sync(() => removeServerFile(dir)),
      );
    }),
  );

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Resolves at the first signal: being told to stop is how a server ends well. */
const stopped = Effect.callback<void>((resume) => {
  const undo = onSignal(["SIGINT", "SIGTERM", "SIGHUP"], () => {
    undo();
    resume(Effect.void);
  });
  return Effect.sync(undo);
});

/** Serves until it is told to stop. */
export const serve = Effect.fn("cli.serve")(
  function* ({ target, host, port }: ServeOptions) {
    if (!isLoopback(host))
      return yield* usage(
        `${host} can be reached by others, and what is sent would not be encrypted: listen on 127.0.0.1, put a tunnel in front, and add its name to settings.allowedHosts.`,
      );
    const dir = yield* locateDataFolder(target.data);
    const running = findServer(dir);
    if (running !== undefined)
      return yield* failure(
        `A server for ${dir} runs already at ${running.url} (process ${running.pid}): use that one, end it with \`kill ${running.pid}\`, or give this one another folder with --data DIR.`,
      );
    const layer = registered(dir).pipe(
      Layer.provideMerge(serveHttp({ host, port })),
      Layer.provideMerge(Layer.mergeAll(EventPages.layer, Closing.layer, Tokens.layer(dir))),
      Layer.provideMerge(Core.layer({ dir, start: true })),
    );
    const services = yield* Layer.build(layer);
    yield* Effect.provideContext(
      Effect.flatMap(addressOf, (url) => announce(dir, url, target.json)),
      services,
    );
    yield* stopped;
  },
  Effect.scoped,
  Effect.mapError(asFailure),
);
