import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { mediaTypeOf } from "../../src/cli/attachments.ts";
import { inside } from "../support/inside.ts";
import { serveProcess } from "../support/process.ts";
import { temporaryFolders } from "../support/server.ts";

const folders = Effect.map(temporaryFolders, ({ data, work, base }) => ({ data, cwd: work, base }));
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const script = { name: "seeing", capabilities: { images: true }, otherwise: [{ do: "text", text: "I see." }] };
const config = { instances: [{ id: "seeing", runtime: "scripted", options: { script } }] };

describe("tributary run --attach", () => {
  it.live(
    "sends files along, in process and through a server; says which can't be read or sent",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const [image, lie] = [join(options.base, "one.png"), join(options.base, "two.png")];
        writeFileSync(image, png);
        writeFileSync(lie, "no image");
        const said = ["run", "seeing", "look", "--approve", "none", "--cwd", options.cwd, "--data", options.data];
        const run = (...args: ReadonlyArray<string>) => inside([...said, ...args]);
        // The data folder is made by the first command.
        yield* inside(["projects", "add", options.cwd, "--data", options.data]);
        writeFileSync(join(options.data, "config.json"), JSON.stringify(config));

        const ran = yield* run("--attach", image, "--attach", image);
        assert.deepInclude(ran, { code: 0 }, ran.stderr);
        assert.match(ran.stdout, /I see\./);
        const missing = yield* run("--attach", join(options.base, "none.png"));
        assert.strictEqual(missing.code, 2);
        assert.match(missing.stderr, /none\.png can't be read/);
        const refused = yield* run("--attach", lie);
        assert.strictEqual(refused.code, 1);
        assert.match(refused.stderr, /two\.png can't be attached: .*not image\/png/);

        const server = yield* serveProcess(options);
        const served = yield* run("--attach", image, "--json");
        assert.deepInclude(served, { code: 0 }, served.stderr);
        const queued = served.stdout.split("\n").find((line) => line.includes('"input.queued"')) ?? "{}";
        assert.deepInclude(JSON.parse(queued).payload.attachments[0], { name: "one.png", mimeType: "image/png" });
        const sent = yield* inside([
          "send",
          JSON.parse(queued).streamId,
          "again",
          "--attach",
          image,
          "--data",
          options.data,
        ]);
        assert.deepInclude(sent, { code: 0 }, sent.stderr);
        server.kill("SIGTERM");
        yield* Effect.promise(() => server.ended);
      }),
    60_000,
  );

  it("knows media types by the ends of names", () => {
    assert.deepStrictEqual(["a.PNG", "b.tar.md", "c", "d.unknown", "/e.f/g.jpeg"].map(mediaTypeOf), [
      "image/png",
      "text/markdown",
      "text/plain",
      "text/plain",
      "image/jpeg",
    ]);
  });
});
