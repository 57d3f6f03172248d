import { it } from "@effect/vitest";
import { Effect } from "effect";
import { crashAndCheck } from "./support/crash.ts";
import { temporaryFolder } from "./support/layers.ts";

it.live(
  "kill -9 loses nothing that was acknowledged and leaves nothing half (I1)",
  () => Effect.flatMap(temporaryFolder, (dir) => crashAndCheck(dir, [1, 40, 300, 777])).pipe(Effect.scoped),
  60_000,
);
