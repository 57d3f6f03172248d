/** `tributary serve`: Tributary as a server of this machine. */
import { DateTime, Effect, Layer } from "effect";
import { identityOf } from "@tributary/store";
import { locateDataFolder } from "../config/data-folder.ts";
import { tokenFile } from "../config/token.ts";
import { exposureProblem } from "../auth/exposure.ts";
import { authLayer } from "../auth/layer.ts";
import { loadTls } from "../auth/tls.ts";
import { Core } from "../core.ts";
import { Closing } from "../http/Closing.ts";
import { EventPages } from "../http/EventPages.ts";
import { addressOf, serveHttp } from "../http/listen.ts";
import { Instances } from "../Instances.ts";
import { Purges } from "../Purges.ts";
import { findServer, removeServerFile, writeServerFile } from "../server-file.ts";
import { asFailure, failure, usage } from "./failure.ts";
import { onSignal } from "./interrupts.ts";
import { print, printJson } from "./output.ts";
import type { Target } from "./root.ts";

export interface ServeOptions {
  readonly target: Target;
  readonly host: string;
  readonly port: number | undefined;
  /** Files with the certificate and its key, PEM: both or none. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** The https:// address of a tunnel or proxy in front, which ends TLS. */
  readonly tunnel: string | undefined;
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

/** The server of a folder announces itself to the command line while it runs. `certificate`: what to know it by. */
const registered = (dir: string, certificate: string | undefined) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const url = yield* addressOf;
      const since = DateTime.formatIso(yield* DateTime.now);
      const identity = identityOf(process.pid) ?? { pid: process.pid, startTime: "", bootId: "" };
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          writeServerFile(dir, { ...identity, url, since, ...(certificate === undefined ? {} : { certificate }) }),
        ),
        () => Effect.sync(() => removeServerFile(dir)),
      );
    }),
  );

/** The certificate, where one was named; refuses to be reached by others without encryption. */
const exposed = Effect.fnUntraced(function* ({ host, tlsCert, tlsKey, tunnel }: ServeOptions) {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    return yield* usage("--tls-cert and --tls-key go together: name both files.");
  const tls =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : yield* Effect.mapError(loadTls(tlsCert, tlsKey), asFailure);
  const problem = exposureProblem({ host, pin: tls?.pin, tunnel });
  return problem === undefined ? tls : yield* usage(problem);
});

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
  function* (options: ServeOptions) {
    const { target, host, port, tunnel } = options;
    const tls = yield* exposed(options);
    const dir = yield* locateDataFolder(target.data);
    const running = findServer(dir);
    if (running !== undefined)
      return yield* failure(
        `A server for ${dir} runs already at ${running.url} (process ${running.pid}): use that one, end it with \`kill ${running.pid}\`, or give this one another folder with --data DIR.`,
      );
    const layer = registered(dir, tls?.cert).pipe(
      Layer.merge(Purges),
      Layer.provideMerge(
        serveHttp({
          host,
          port,
          ...(tls === undefined ? {} : { tls }),
          ...(tunnel === undefined ? {} : { tunnel }),
        }),
      ),
      Layer.provideMerge(Layer.mergeAll(EventPages.layer, Closing.layer, authLayer(dir))),
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
