import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findTranslator } from "@tributary/providers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
let folder: string;

/** The vendor's own types of the pinned version, experimental ones included. */
beforeAll(async () => {
  const { stdout } = await run(process.execPath, [local("install.mjs")]);
  const { codex } = JSON.parse(stdout) as { readonly codex: { readonly path: string } };
  folder = mkdtempSync(join(tmpdir(), "tributary-codex-schema-"));
  await run(codex.path, ["app-server", "generate-ts", "--experimental", "--out", folder], {
    env: { ...process.env, CODEX_HOME: folder },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const methodsIn = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(folder, file), "utf8").matchAll(/"method": "([^"]+)"/g)].flatMap(([, method]) => method ?? []);

/** What the translator calls unknown of a frame. */
const unknownIn = (msg: unknown): ReadonlyArray<string> => {
  const translate = findTranslator("codex")?.start({ generation: 1 });
  const events = (translate?.({ dir: "in", msg }) ?? []).flatMap((record) => record.events);
  return events.flatMap((event) => (event.type === "unknown" ? [event.payload.kind] : []));
};

describe("the vendor's types", () => {
  it("hold what the adapter sends and reads", async () => {
    copyFileSync(local("fixtures/codex-protocol.txt"), join(folder, "protocol.ts"));
    const options = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: "ES2024",
      module: "ESNext",
      moduleResolution: "Bundler",
      types: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["protocol.ts"] }));
    const tsc = local("../../node_modules/typescript/bin/tsc");
    const said = await run(process.execPath, [tsc, "-p", folder]).then(
      () => "",
      (error: { readonly stdout?: string }) => error.stdout ?? String(error),
    );
    expect(said).toBe("");
  });

  it("name no notification that is neither handled nor listed with a reason", () => {
    const methods = methodsIn("ServerNotification.ts");
    expect(methods.length).toBeGreaterThan(50);
    expect(methods.filter((method) => unknownIn({ method, params: {} }).includes(method))).toEqual([]);
  });

  it("name no request that is neither handled nor listed with a reason", () => {
    const methods = methodsIn("ServerRequest.ts");
    expect(methods.length).toBeGreaterThan(5);
    expect(methods.filter((method) => unknownIn({ id: 0, method, params: {} }).includes(method))).toEqual([]);
  });

  it("name no item type that is not known", () => {
    const types = [...readFileSync(join(folder, "v2/ThreadItem.ts"), "utf8").matchAll(/"type": "([^"]+)"/g)].flatMap(
      ([, type]) => type ?? [],
    );
    expect(types.length).toBeGreaterThan(15);
    const frame = (type: string) => ({
      method: "item/started",
      params: { threadId: "t", turnId: "u", item: { type, id: "i" } },
    });
    expect(types.filter((type) => unknownIn(frame(type)).length > 0)).toEqual([]);
  });
});
