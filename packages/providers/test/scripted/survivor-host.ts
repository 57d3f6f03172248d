/** A host that opens a scripted child, says who it is on stdout, and waits to be killed. */
import { Effect } from "effect";
import { Heard, openScript } from "./harness.ts";

const marker = process.argv[2] ?? "";
const heard = new Heard();

const main = Effect.gen(function* () {
  yield* openScript({ on: { eof: "hang", terminate: "hang" } }, { process: true, marker, heard });
  process.stdout.write(JSON.stringify(heard.spawned[0]));
  return yield* Effect.never;
});

Effect.runFork(Effect.scoped(main));
