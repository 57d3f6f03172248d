/** The command line's way to a data folder that no server has open. */
import { Effect } from "effect";
import type { Scope } from "effect";
import { openInside } from "../inside.ts";
import type { InsideError } from "../inside.ts";
import type { Access } from "./client.ts";

/** Opens a data folder and returns how to call its application. It closes, in good order, with the scope. */
export const openInProcess = (
  dir: string,
  depth: "everything" | "store",
): Effect.Effect<Access, InsideError, Scope.Scope> =>
  Effect.map(openInside({ dir, start: depth === "everything" }), ({ fetch }) => ({
    baseUrl: "http://localhost:80",
    token: "in-process",
    fetch: (input, init) => fetch(new Request(input, init)),
  }));
