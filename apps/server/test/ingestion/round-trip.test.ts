/** What the journal has of a session, exported, is read back by `normalize` as what was recorded. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, describe, it } from "@effect/vitest";
import type { Adapter, OpenOptions } from "@tributary/contracts";
import { normalize, normalizeRecords } from "@tributary/providers";
import { Effect } from "effect";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { startServer, temporaryFolders } from "../support/server.ts";

const capabilities = {
  steer: false,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: true },
  refusedOptions: {},
} as const;

const fixture = (runtime: string, name: string): string =>
  readFileSync(
    fileURLToPath(new URL(`../../../../packages/providers/test/${runtime}/fixtures/${name}.ndjson`, import.meta.url)),
    "utf8",
  );

/** Says what was recorded, each process of the recording in a session of its own. */
const replaying = (runtime: string, recording: string): Adapter => {
  const records = [...normalizeRecords(runtime, recording)];
  const session = ({ emit, generation }: OpenOptions) => ({
    nativeSessionId: "recorded",
    resumed: false,
    capabilities,
    prompt: () =>
      Effect.forEach(
        records.filter((one) => one.generation === generation),
        ({ record }) => emit(record),
        { discard: true },
      ),
    interrupt: () => Effect.void,
    close: Effect.void,
    signal: () => Effect.void,
  });
  return {
    runtime,
    installation: () => Effect.succeed({ available: true, capabilities }),
    open: (options) => Effect.succeed(session(options)),
  };
};

const printed = (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    let stdout = "";
    const out = (text: string) => Effect.sync(() => void (stdout += text));
    return runCommand(args).pipe(
      Effect.provideService(Output, { out, err: () => Effect.void }),
      Effect.map(({ code }) => ({ code, stdout })),
    );
  });

describe("a journal that is exported and normalized", () => {
  it.live.each([
    ["codex", "command-accept"],
    ["codex", "cut"],
    ["codex", "background"],
    ["claude", "allow-session"],
    ["claude", "fallback-without-stream"],
    ["claude", "plan-accepted"],
  ] as const)(
    "%s: %s",
    ([runtime, name]) =>
      Effect.gen(function* () {
        const folders = yield* temporaryFolders;
        const recording = fixture(runtime, name);
        const wanted = normalize(runtime, recording);
        assert.isAbove(wanted.length, 5);
        const count = [...normalizeRecords(runtime, recording)].length;
        yield* Effect.gen(function* () {
          const server = yield* startServer(folders, { adapters: { [runtime]: replaying(runtime, recording) } });
          const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
          yield* call("/projects", { body: { root: server.work } });
          yield* call("/instances", { body: { id: "recorded", runtime } });
          const input = { inputId: "i", text: "go" };
          yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "recorded", input } });
          for (;;) {
            const { body } = yield* call("/threads/T/records?limit=1000");
            if (body.records.length >= count) break;
            yield* Effect.sleep("20 millis");
          }
        }).pipe(Effect.scoped);
        const exported = yield* printed(["journal", "export", "T", "--data", folders.data]);
        assert.strictEqual(exported.code, 0);
        const file = join(folders.base, "exported.ndjson");
        writeFileSync(file, exported.stdout);
        const again = yield* printed(["normalize", "--runtime", runtime, file]);
        assert.strictEqual(again.code, 0);
        const events = again.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown);
        assert.deepStrictEqual(events, JSON.parse(JSON.stringify(wanted)));
      }).pipe(Effect.scoped),
    30_000,
  );
});
