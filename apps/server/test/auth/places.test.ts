import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";
import { answered } from "./devices.ts";

describe("the folder of a thread (pain 25)", () => {
  it.live("lies under a registered root, whatever its path looks like (I13)", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const server = yield* startServer(folders);
      const { work, base } = folders;
      const outside = join(base, "outside");
      mkdirSync(outside);
      mkdirSync(join(work, "inside"));
      mkdirSync(join(base, "work-beside"));
      writeFileSync(join(work, "file"), "");
      symlinkSync(outside, join(work, "link"));
      symlinkSync(join(work, "inside"), join(base, "way-in"));
      symlinkSync("loop", join(work, "loop"));
      yield* Effect.promise(async () => {
        answered(200, await server.call("/projects", { body: { projectId: "P", root: work } }));
        const create = (cwd: unknown) => server.call("/threads", { body: { cwd, instance: "demo" } });
        const refused: ReadonlyArray<readonly [unknown, RegExp]> = [
          [outside, /cwd_outside_roots/],
          [join(base, "work-beside"), /cwd_outside_roots/],
          [`${work}/../outside`, /cwd_outside_roots/],
          [`${work}/inside/../../outside`, /cwd_outside_roots/],
          [join(work, "link"), /cwd_outside_roots/],
          ["/", /cwd_outside_roots/],
          ["/proc/self/cwd", /cwd_outside_roots/],
          [`/proc/self/root${outside}`, /cwd_outside_roots/],
          [join(work, "loop"), /cwd_missing/],
          [join(work, "file"), /cwd_missing/],
          [join(work, "none"), /cwd_missing/],
          ["/dev/null", /cwd_missing/],
          ["/dev/stdin", /cwd_missing/],
          ["/dev/fd/0", /cwd_missing/],
          ["CON", /cwd_missing/],
          ["NUL:", /cwd_missing/],
          ["\\\\.\\C:\\", /cwd_missing/],
          ["\\\\?\\UNC\\server\\share", /cwd_missing/],
          [`${work}\u0000`, /cwd_missing|bad_request/],
          [`${work}\u0000/../outside`, /cwd_missing|bad_request/],
          [`${work}/inside%2f..%2f..%2foutside`, /cwd_missing/],
          [`${work}/%2e%2e/outside`, /cwd_missing/],
          [`${work}/inside\ud800`, /cwd_missing|bad_request/],
          [`file://${work}`, /cwd_missing/],
          ["~", /cwd_missing/],
          [".", /cwd_missing/],
          ["", /cwd_missing|bad_request/],
          [`${work}/${"x/".repeat(50_000)}`, /cwd_missing/],
          [`${work}/${"y".repeat(5000)}`, /cwd_missing/],
          [null, /bad_request/],
        ];
        for (const [cwd, code] of refused) {
          const { status, body } = await create(cwd);
          assert.include([400, 409], status, JSON.stringify(cwd)?.slice(0, 100));
          assert.match(body.code, code, JSON.stringify(cwd)?.slice(0, 100));
        }
        // A way in by a link is the real folder.
        const { threadId } = answered(200, await create(join(base, "way-in"))).body;
        assert.strictEqual((await server.call(`/threads/${threadId}`)).body.thread.cwd, join(work, "inside"));
        assert.lengthOf((await server.call("/threads")).body.threads, 1);
      });
    }),
  );

  it.live("is not followed where a link leads later", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const server = yield* startServer(folders);
      const { work, base } = folders;
      mkdirSync(join(work, "inside"));
      mkdirSync(join(base, "outside"));
      yield* Effect.promise(async () => {
        answered(200, await server.call("/projects", { body: { root: work } }));
        const body = { threadId: "T", cwd: join(work, "inside"), instance: "demo" };
        answered(200, await server.call("/threads", { body }));
        renameSync(join(work, "inside"), join(work, "moved"));
        symlinkSync(join(base, "outside"), join(work, "inside"));
        const stream = await openSse(`${server.url}/threads/T/live`, server);
        answered(200, await server.call("/threads/T/inputs", { body: { inputId: "i", text: "go" } }));
        const failed = (await stream.take(is("event", "session.failed"))).at(-1);
        assert.strictEqual(failed?.data.payload.error.code, "cwd_missing");
        stream.close();
      });
    }),
  );

  it.live("takes no root that is no folder", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        for (const root of ["/dev/null", "relative", `${server.work}\u0000x`, "", "\\\\.\\pipe\\x"]) {
          const { status } = await server.call("/projects", { body: { root } });
          assert.include([400, 409], status, JSON.stringify(root));
        }
      });
    }),
  );
});
