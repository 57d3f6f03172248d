import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Schema } from "effect";
import { expect, test } from "vitest";

test("the suite runs on the Node that the repository brings, whatever the system's is", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    readonly devDependencies: { readonly node: string };
  };
  expect(process.versions.node).toBe(manifest.devDependencies.node);
});

test("SQLite is there without a flag, with the write-ahead journal and foreign keys", () => {
  const database = new DatabaseSync(":memory:");
  expect(database.prepare("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
  expect(database.prepare("SELECT json_extract('{\"a\":1}', '$.a') AS a").get()).toEqual({ a: 1 });
  database.close();
});

test("schemas are compiled, unless TRIBUTARY_NO_JIT=1 leaves that out", () => {
  const original = globalThis.Function;
  let compiled = 0;
  globalThis.Function = new Proxy(original, {
    apply(target, self, args: Array<string>) {
      compiled += 1;
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  try {
    const decode = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String, at: Schema.Number }));
    expect(decode({ id: "a", at: 1 })).toEqual({ id: "a", at: 1 });
  } finally {
    globalThis.Function = original;
  }
  expect(compiled > 0).toBe(process.env["TRIBUTARY_NO_JIT"] !== "1");
});
