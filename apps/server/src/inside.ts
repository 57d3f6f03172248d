/** Tributary inside this process, behind the same HTTP application that a server has, without a socket or a token. */
import type { Adapter } from "@tributary/contracts";
import { Effect, Layer } from "effect";
import type { Context, Scope } from "effect";
import { HttpEffect } from "effect/http";
import type { AuditError } from "./auth/Audit.ts";
import type { AuthFileError } from "./auth/auth-file.ts";
import { authLayerOwner } from "./auth/layer.ts";
import { Core } from "./core.ts";
import type { CoreError } from "./core.ts";
import { makeApp } from "./http/app.ts";
import { Closing } from "./http/Closing.ts";
import { EventPages } from "./http/EventPages.ts";

export interface InsideOptions {
  /** The data folder; absolute. Made where it is missing. One process at a time has it open. */
  readonly dir: string;
  /** `false`: the store can be read and cared for, and no agent runs. Default: true. */
  readonly start?: boolean;
  /** Adapters that stand in for the built-in ones, by runtime. */
  readonly adapters?: Readonly<Record<string, Adapter>>;
}

/** The data folder can't be opened: each says what to do. */
export type InsideError = CoreError | AuthFileError | AuditError;

/** Requests inside the process have a name and a port as well; the edge knows these. */
const allowed = { port: 80, hosts: [], origins: [] };

/** What a socket's client would have sent by itself. Whoever can call is the owner. */
const addressed = (request: Request): Request => {
  const { headers, url } = request;
  // A page that is served under the same name, whatever that is.
  if (headers.get("origin") === new URL(url).origin) headers.delete("origin");
  headers.set("host", "localhost:80");
  if (!headers.has("authorization")) headers.set("authorization", "Bearer in-process");
  return request;
};

const servicesOf = ({ dir, start = true, adapters = {} }: InsideOptions) =>
  Layer.mergeAll(EventPages.layer, Closing.layer, authLayerOwner(dir)).pipe(
    Layer.provideMerge(Core.layer({ dir, start, adapters })),
  );

/** What is asked afterwards: the store behind it is shut, which is no damage. */
const closed = (): Response =>
  Response.json(
    {
      type: "urn:tributary:problem:unavailable",
      status: 503,
      title: "Tributary is closed",
      code: "unavailable",
      detail: "Tributary was closed in this program: open the data folder again.",
      userAction: "none",
    },
    { status: 503, headers: { "content-type": "application/problem+json" } },
  );

/** Opens a data folder for as long as the scope lasts: its services, and its application as a function. */
export const openInside = Effect.fn("server.openInside")(function* (options: InsideOptions): Effect.fn.Return<
  {
    readonly services: Context.Context<Layer.Success<ReturnType<typeof servicesOf>>>;
    readonly fetch: (request: Request) => Promise<Response>;
  },
  InsideError,
  Scope.Scope
> {
  const services = yield* Layer.build(servicesOf(options));
  const app = yield* Effect.provideContext(
    makeApp(() => allowed),
    services,
  );
  const handler = HttpEffect.toWebHandler(app);
  let isOpen = true;
  yield* Effect.addFinalizer(() => Effect.sync(() => void (isOpen = false)));
  return {
    services,
    fetch: (request) => (isOpen ? handler(addressed(new Request(request))) : Promise.resolve(closed())),
  };
});
