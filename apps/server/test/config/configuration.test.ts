import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { Configuration, configFile } from "../../src/config/Configuration.ts";
import { jsonMistake } from "../../src/config/json-position.ts";
import { writePrivateFile } from "../../src/config/private-file.ts";
import { defaultConfig, parseConfig } from "../../src/config/schema.ts";
import { ensureToken, loadToken, tokenFile, tokenVerifier } from "../../src/config/token.ts";

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-config-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
);
const mode = (path: string): number => statSync(path).mode & 0o777;

describe("the place of a JSON mistake", () => {
  it.each([
    ["{", 1, 2],
    ['{\n  "a": x\n}', 2, 8],
    ['{\n  "a": 1,\n}', 3, 1],
    ['{"a": 1} {', 1, 10],
    ['{"a": "b\nc"}', 1, 7],
    ["", 1, 1],
    ["[1, 2", 1, 6],
    ['{"a" 1}', 1, 6],
    ["01", 1, 2],
    ["[{}, []", 1, 8],
    ['{"a": [1, {"b": }]}', 1, 17],
    ["[".repeat(200_000), 1, 200_001],
  ])("%j is wrong at line %i, column %i", (text, line, column) => {
    assert.throws(() => JSON.parse(text));
    const { line: foundLine, column: foundColumn } = jsonMistake(text) ?? { line: 0, column: 0 };
    assert.deepStrictEqual([foundLine, foundColumn], [line, column]);
  });

  it.each(['{"a": [1, -2.5e3, true, null, "\\u00e9\\n", {}], "b": {"c": []}}', " [] ", '"x"', "null", "[[[]],{}]"])(
    "%j has none",
    (text) => {
      JSON.parse(text);
      assert.isUndefined(jsonMistake(text));
    },
  );
});

describe("config.json", () => {
  it.each([
    ['{"instances": [{"id": "a"}]}', "instances[0].runtime"],
    ['{"instances": [{"id": "a", "runtime": "codex", "comand": "x"}]}', "instances[0].comand"],
    ['{"settings": {"durability": "low"}}', "settings.durability"],
    ['{"instnces": []}', "instnces"],
    ['{"instances": [{"id": "a", "runtime": "x"}, {"id": "a", "runtime": "y"}]}', "instances[1].id"],
    ['{\n"settings": {\n}', "line 3"],
  ])("%s is told with %s", (text, where) => {
    const parsed = parseConfig(text);
    assert.include("problem" in parsed ? parsed.problem : "no problem", where);
  });

  it("may hold one part alone", () => {
    assert.deepStrictEqual(parseConfig("{}"), { config: defaultConfig });
  });
});

describe("Configuration", () => {
  it.effect("makes the file with the demo instance, for its owner only", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      const current = yield* Effect.map(Configuration, (it) => it.current()).pipe(
        Effect.provide(Configuration.layer({ dir })),
      );
      assert.deepStrictEqual(
        current.instances.map(({ id }) => id),
        ["demo"],
      );
      assert.strictEqual(mode(configFile(dir)), 0o600);
    }),
  );

  it.effect("leaves the last good one in force while the file is broken, and refuses to write over it", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      const good = '{"settings": {"allowedOrigins": ["https://a.example"]}}';
      writeFileSync(configFile(dir), good);
      yield* Effect.gen(function* () {
        const configuration = yield* Configuration;
        writeFileSync(configFile(dir), '{"settings": {');
        yield* configuration.reload;
        assert.deepStrictEqual(configuration.current().settings, { allowedOrigins: ["https://a.example"] });
        assert.include(configuration.problem() ?? "", "line 1");
        const refused = yield* Effect.flip(configuration.update((config) => config));
        assert.include(refused.message, "Correct the file");
        assert.strictEqual(readFileSync(configFile(dir), "utf8"), '{"settings": {');
        writeFileSync(configFile(dir), good);
        yield* configuration.update((config) => ({ ...config, settings: { durability: "normal" } }));
        assert.deepStrictEqual(configuration.current().settings, { durability: "normal" });
        assert.isUndefined(configuration.problem());
        assert.deepStrictEqual(JSON.parse(readFileSync(configFile(dir), "utf8")).settings, { durability: "normal" });
      }).pipe(Effect.provide(Configuration.layer({ dir })));
    }),
  );

  it.live("notices a change made by hand", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      yield* Effect.gen(function* () {
        const configuration = yield* Configuration;
        writeFileSync(configFile(dir), '{"settings": {"reasoning": "off"}}');
        yield* Effect.yieldNow.pipe(
          Effect.repeat({ until: () => configuration.current().settings.reasoning === "off" }),
          Effect.timeout("5 seconds"),
        );
      }).pipe(Effect.provide(Configuration.layer({ dir, interval: 5 })));
    }),
  );
});

describe("a private file", () => {
  it.effect("is written although a process of the same id was killed while it wrote", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      const path = join(dir, "devices.json");
      for (let n = 0; n < 200; n += 1) writeFileSync(`${path}.${process.pid}.${n}.tmp`, "half");
      writePrivateFile(path, "whole");
      assert.strictEqual(readFileSync(path, "utf8"), "whole");
      assert.strictEqual(mode(path), 0o600);
    }),
  );
});

describe("the token", () => {
  it.effect("is made once, for its owner only", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      const token = yield* ensureToken(dir);
      assert.match(token, /^[\w-]{43}$/);
      assert.strictEqual(yield* ensureToken(dir), token);
      assert.strictEqual(yield* loadToken(tokenFile(dir)), token);
      assert.strictEqual(mode(tokenFile(dir)), 0o600);
      chmodSync(tokenFile(dir), 0o644);
      assert.strictEqual(yield* ensureToken(dir), token);
      assert.strictEqual(mode(tokenFile(dir)), 0o600);
    }),
  );

  it.effect("in a damaged file is refused, saying which file", () =>
    Effect.gen(function* () {
      const dir = yield* temporary;
      writeFileSync(tokenFile(dir), "short");
      chmodSync(tokenFile(dir), 0o600);
      const error = yield* Effect.flip(ensureToken(dir));
      assert.include(error.message, tokenFile(dir));
    }),
  );

  it("is compared whole", () => {
    const matches = tokenVerifier("a".repeat(43));
    assert.isTrue(matches("a".repeat(43)));
    for (const wrong of ["", "a", "a".repeat(42), "a".repeat(44), `${"a".repeat(42)}b`]) assert.isFalse(matches(wrong));
  });
});
