import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findTranslator } from "@tributary/providers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
let types: string;
let folder: string;

/** The vendor's own types of the pinned version: those of its SDK, which ships the same program. */
beforeAll(async () => {
  const { stdout } = await run(process.execPath, [local("install.mjs")]);
  const { claude } = JSON.parse(stdout) as { readonly claude: { readonly path: string } };
  types = readFileSync(join(dirname(claude.path), "../claude-agent-sdk/sdk.d.ts"), "utf8").replaceAll("\r\n", "\n");
  folder = mkdtempSync(join(tmpdir(), "tributary-claude-schema-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The text of a type's declaration, without its comments. */
const declared = (name: string): string =>
  new RegExp(`^(?:export )?declare type ${name} = [^]*?;\\n\\n`, "m").exec(
    `${types.replaceAll(/\/\*\*[^]*?\*\//g, "")}\n\n`,
  )?.[0] ?? "";

const membersOf = (name: string): ReadonlyArray<string> =>
  (declared(name).split(" = ")[1] ?? "").split("|").flatMap((part) => /(\w+);?\s*$/.exec(part)?.[1] ?? []);

const literalOf = (text: string, field: string): string | undefined =>
  new RegExp(`^ {4}${field}: '(\\w+)';`, "m").exec(text)?.[1];

/** What the translator does not know of a frame: not what it misses in it, it is empty. */
const isUnknown = (kind: string, msg: object): boolean => {
  const translate = findTranslator("claude")?.start({ generation: 1 });
  const events = (translate?.({ dir: "in", msg }) ?? []).flatMap((record) => record.events);
  return events.some((event) => event.type === "unknown" && event.payload.kind === kind);
};

describe("the vendor's types", () => {
  it("hold what the adapter sends and reads", async () => {
    writeFileSync(join(folder, "sdk.d.ts"), types.replaceAll(/^declare type /gm, "export declare type "));
    writeFileSync(join(folder, "protocol.ts"), readFileSync(local("fixtures/claude-protocol.txt")));
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

  it("name no message that is neither handled nor listed with a reason", () => {
    const names = [...membersOf("SDKMessage"), ...membersOf("StdoutMessage")].filter(
      (name) => !["SDKMessage", "SDKControlRequest", "SDKResultMessage"].includes(name),
    );
    const kinds = [...names, "SDKResultSuccess", "SDKResultError"].map((name) => {
      const text = declared(name);
      return { name, type: literalOf(text, "type"), subtype: literalOf(text, "subtype") };
    });
    expect(kinds.length).toBeGreaterThan(40);
    expect(kinds.filter(({ type }) => type === undefined)).toEqual([]);
    const unknown = kinds.filter(({ type, subtype }) =>
      isUnknown(type === "system" ? `system/${subtype}` : (type ?? ""), { type, subtype }),
    );
    expect(unknown).toEqual([]);
  });

  it("name no kind of request that was not there", () => {
    const subtypes = membersOf("SDKControlRequestInner").map((name) => literalOf(declared(name), "subtype"));
    const asked = subtypes.filter((subtype) => {
      const request = { type: "control_request", request_id: "r", request: { subtype } };
      return !isUnknown(`control_request/${subtype}`, request);
    });
    expect(asked).toEqual(["can_use_tool", "hook_callback", "mcp_message", "elicitation", "request_user_dialog"]);
    // All others are ours to ask. A new one may be the runtime's: look at it, then count it.
    expect(subtypes).toHaveLength(41);
  });

  it.each([
    ["SDKAssistantMessageError", 13],
    ["TerminalReason", 19],
    ["SDKStartupFailureReason", 25],
  ])("have as many of %s as when errors.ts and adapter.ts were written", (name, count) => {
    expect([...declared(name).matchAll(/'\w+'/g)]).toHaveLength(count);
  });
});
