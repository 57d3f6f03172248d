/** Tributary inside this process, behind the same HTTP application that a server has, without a socket. */
import { Effect, Layer } from "effect";
import type { Scope } from "effect";
import { HttpEffect } from "effect/http";
import type { AuditError } from "../auth/Audit.ts";
import type { AuthFileError } from "../auth/auth-file.ts";
import { authLayerOwner } from "../auth/layer.ts";
import { Core } from "../core.ts";
import type { CoreError } from "../core.ts";
import { makeApp } from "../http/app.ts";
import { Closing } from "../http/Closing.ts";
import { EventPages } from "../http/EventPages.ts";
import type { Access } from "./client.ts";

/** Requests inside the process have a name and a port as well; the edge knows these. */
const baseUrl = "http://localhost:80";
const allowed = { port: 80, hosts: [], origins: [] };

/** Opens a data folder and returns how to call its application. It closes, in good order, with the scope. */
export const openInProcess = Effect.fn("cli.openInProcess")(function* (
  dir: string,
  depth: "everything" | "store",
): Effect.fn.Return<Access, CoreError | AuthFileError | AuditError, Scope.Scope> {
  const services = yield* Layer.build(
    Layer.mergeAll(EventPages.layer, Closing.layer, authLayerOwner(dir)).pipe(
      Layer.provideMerge(Core.layer({ dir, start: depth === "everything" })),
    ),
  );
  const app = yield* Effect.provideContext(
    makeApp(() => allowed),
    services,
  );
  const handler = HttpEffect.toWebHandler(app);
  return {
    baseUrl,
    token: "in-process",
    fetch: (input, init) => {
      const request = new Request(input, init);
      // What a socket's client would have sent by itself.
      request.headers.set("host", new URL(request.url).host || "localhost:80");
      return handler(request);
    },
  };
});
