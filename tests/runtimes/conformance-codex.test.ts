import { conformance, codexDriver } from "@tributary/testkit/conformance";
import { describe } from "vitest";
import { isFast, onReport, programs, realServer } from "./conformance.ts";

const { codex } = await programs();

describe("conformance of Codex", () => {
  conformance({ startServer: realServer(), driver: codexDriver({ command: codex.path }), isFast, onReport });
});
