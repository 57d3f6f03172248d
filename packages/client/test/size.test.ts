import { readFileSync } from "node:fs";
import { assert, describe, it } from "vitest";
import { bundle, type Built } from "../scripts/build.ts";

/** Bytes, minified and gzipped. The README states them; raise both together, with a reason. */
const bounds = { client: { size: 54_000, gzip: 18_000 }, reducer: { size: 32_000, gzip: 11_000 } } as const;

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const kib = (bytes: number): string => `${Math.ceil(bytes / 1000)} kB`;

describe.each(["client", "reducer"] as const)("the built module %s", (name) => {
  let built: Built;
  it("imports nothing: it loads from a plain page, without a schema library", async () => {
    built = await bundle(name);
    assert.deepStrictEqual(built.imports, []);
    assert.notMatch(built.text, /effect\/(Schema|Effect)|node:/);
  });

  it("stays within its size, which the README states", async () => {
    built ??= await bundle(name);
    const { size, gzip } = bounds[name];
    assert.isAtMost(built.size, size, `${name}.js has ${built.size} bytes`);
    assert.isAtMost(built.gzip, gzip, `${name}.js has ${built.gzip} bytes gzipped`);
    assert.include(readme, `\`dist/${name}.js\` | ≤ ${kib(size)} | ≤ ${kib(gzip)}`);
  });
});
