import { conformance, claudeDriver } from "@tributary/testkit/conformance";
import { describe } from "vitest";
import { isFast, onReport, programs, realServer } from "./conformance.ts";

const { claude } = await programs();

describe("conformance of Claude Code", () => {
  conformance({ startServer: realServer(), driver: claudeDriver({ command: claude.path }), isFast, onReport });
});
