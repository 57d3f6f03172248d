import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { Audit } from "../../src/auth/Audit.ts";
import { auditFile, maxAuditBytes, olderAuditFile, readAudit } from "../../src/auth/audit-file.ts";
import { freshServer } from "../support/server.ts";
import { answered, claim, decide, pairDevice, startPairing } from "./devices.ts";

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-audit-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
);

type Entry = { readonly type: string; readonly by?: string; readonly about?: string; readonly detail?: string };

describe("the audit record", () => {
  it.live("tells who was let in, who was not, and who decided it", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server, { name: "Phone" });
      yield* Effect.promise(async () => {
        const second = await startPairing(server);
        await claim(server, second.code, "Stranger");
        await decide(server, second.pairingId, "refuse");
        await phone.call("/pairings", { body: {} });
        await phone.call("/pairings", { body: {} });
        for (let count = 0; count < 5; count += 1) await server.call("/threads", { token: "wrong" });
        const thread = { threadId: "T", cwd: server.work, instance: "demo", approvalMode: "full_access" };
        answered(200, await server.call("/threads", { body: thread }));
        await phone.call("/threads", { body: { ...thread, threadId: "U" } });
        answered(200, await server.call(`/devices/${phone.deviceId}`, { method: "DELETE" }));
        await phone.call("/threads");
        const { entries } = answered(200, await server.call("/audit")).body as {
          readonly entries: ReadonlyArray<Entry>;
        };
        assert.deepStrictEqual(
          entries.toReversed().map(({ type, by }) => (by === undefined ? type : `${type} by ${by}`)),
          [
            "pairing.started by owner",
            "pairing.claimed",
            "pairing.confirmed by owner",
            "device.added",
            "pairing.started by owner",
            "pairing.claimed",
            "pairing.refused by owner",
            `scope.refused by ${phone.deviceId}`,
            "token.refused",
            "full_access.granted by owner",
            `scope.refused by ${phone.deviceId}`,
            "device.revoked by owner",
            "token.refused",
          ],
        );
        assert.strictEqual(entries.find(({ type }) => type === "device.revoked")?.about, phone.deviceId);
        assert.strictEqual(statSync(auditFile(server.data)).mode & 0o777, 0o600);
        // Paged, the newest first.
        const first = (await server.call("/audit?limit=5")).body;
        const next = (await server.call(`/audit?limit=100&before=${encodeURIComponent(first.before)}`)).body;
        assert.deepStrictEqual([...first.entries, ...next.entries], entries);
        assert.isUndefined(next.before);
        assert.strictEqual((await server.call("/audit?before=x")).status, 400);
      });
    }),
  );

  it.live("is bounded, goes on after a restart, and passes over a torn line", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const dir = yield* temporary;
        const noting = (detail: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const services = yield* Layer.build(Audit.layer(dir));
              yield* Effect.provideContext(
                Audit.use((audit) => audit.note("token.refused", { detail })),
                services,
              );
            }),
          );
        yield* noting("first");
        appendFileSync(auditFile(dir), '{"n": 2, "at"');
        yield* noting("second");
        assert.deepStrictEqual(
          readAudit(dir).map(({ n, detail }) => [n, detail]),
          [
            [1, "first"],
            [2, "second"],
          ],
        );
        const services = yield* Layer.build(Audit.layer(dir));
        const audit = yield* Effect.provideContext(
          Audit.use((it) => Effect.succeed(it)),
          services,
        );
        for (let count = 0; count < 3000; count += 1) yield* audit.note("token.refused", { detail: "x".repeat(900) });
        const sizes = [auditFile(dir), olderAuditFile(dir)].map((path) => statSync(path).size);
        assert.isTrue(
          sizes.every((size) => size <= maxAuditBytes),
          JSON.stringify(sizes),
        );
        const page = yield* audit.page({ limit: 3 });
        assert.deepStrictEqual(
          page.map(({ n }) => n),
          [3002, 3001, 3000],
        );
        assert.deepStrictEqual(
          (yield* audit.page({ limit: 1, before: 3000 })).map(({ n }) => n),
          [2999],
        );
      }),
    ),
  );

  it.live("that can't be read is a refusal", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const dir = yield* temporary;
        writeFileSync(join(dir, "not-a-folder"), "");
        const error = yield* Effect.flip(Layer.build(Audit.layer(join(dir, "not-a-folder"))));
        assert.match(error.message, /audit\.ndjson/);
        assert.strictEqual(readFileSync(join(dir, "not-a-folder"), "utf8"), "");
      }),
    ),
  );
});
