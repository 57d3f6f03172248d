/** What a killed server leaves of attachments: all that it acknowledged, nothing of what it did not. And their care. */
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { tokenFile } from "../../src/config/token.ts";
import { runToEnd, serveProcess } from "../support/process.ts";
import { client, temporaryFolders } from "../support/server.ts";

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await pause(5);
};

describe("attachments of a server that is killed", () => {
  it.live(
    "what was acknowledged is there, what was on its way is gone; backup has it, doctor misses it",
    () =>
      Effect.gen(function* () {
        const { base, data, work } = yield* temporaryFolders;
        const options = { cwd: work, data };
        const kept = () => readdirSync(join(data, "attachments"));
        const first = yield* serveProcess(options);
        const token = readFileSync(tokenFile(data), "utf8").trim();
        const sent = yield* Effect.promise(() =>
          client(first.url, token)("/attachments", { raw: "kept", headers: { "content-type": "text/plain" } }),
        );
        yield* Effect.promise(async () => {
          const { hostname, port, host } = new URL(first.url);
          const socket = connect(Number(port), hostname);
          socket.on("error", () => {});
          await once(socket, "connect");
          socket.write(
            `POST /attachments HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
              `content-type: text/plain\r\ncontent-length: 1000000\r\n\r\n${"x".repeat(1000)}`,
          );
          await until(() => kept().length === 2);
          first.kill("SIGKILL");
          await first.ended;
        });

        const second = yield* serveProcess(options);
        const { attachmentId, sha256 } = sent.body;
        yield* Effect.promise(async () => {
          await until(() => kept().length === 1);
          const back = await client(second.url, token)(`/attachments/${attachmentId}`);
          assert.deepInclude(back, { status: 200, body: "kept" });
        });
        const copy = join(base, "copy");
        const backup = yield* runToEnd(["backup", copy], options);
        assert.strictEqual(backup.code, 0, backup.stderr);
        assert.strictEqual(readFileSync(join(copy, "attachments", sha256), "utf8"), "kept");
        const well = yield* runToEnd(["doctor"], options);
        assert.match(well.stdout, /✓ its files are whole/);
        rmSync(join(data, "attachments", sha256));
        const ill = yield* runToEnd(["doctor"], options);
        assert.strictEqual(ill.code, 1);
        assert.match(ill.stdout, new RegExp(`✗ attachments: ${attachmentId} is missing: attach it again`));
        const whole = yield* runToEnd(["doctor", "--data", copy], options);
        assert.match(whole.stdout, /✓ its files are whole/);
        second.kill("SIGTERM");
        yield* Effect.promise(() => second.ended);
      }),
    120_000,
  );
});
