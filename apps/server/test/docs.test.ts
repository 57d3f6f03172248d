/** The snippets of the documents run as they stand, in their order, against a server that nobody has used before. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { tokenFile } from "../src/config/token.ts";
import { serveProcess } from "./support/process.ts";
import { temporaryFolders } from "./support/server.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const documents = ["wire", "security", "client", "attachments", "journal", "configuration", "in-your-app"].filter(
  (name) => existsSync(join(root, "docs", `${name}.md`)),
);

interface Snippet {
  readonly language: "sh" | "js";
  readonly code: string;
  /** Of the fence, from 1. */
  readonly line: number;
}

const snippetsOf = (text: string): ReadonlyArray<Snippet> =>
  [...text.matchAll(/^```(sh|js)\n([\s\S]*?)^```$/gm)].map(([, language, code = ""], at) => ({
    language: language as Snippet["language"],
    code,
    line: text.slice(0, [...text.matchAll(/^```(sh|js)\n/gm)][at]?.index ?? 0).split("\n").length,
  }));

/** Modules are found from here, where the workspaces are installed. */
const modules = fileURLToPath(new URL("..", import.meta.url));

/** `node` and `tributary` are this repository's, or the package that the run made of it. */
const shipped = process.env["TRIBUTARY_TEST_PACKAGE"];
const commands = shipped === undefined ? join(root, "node_modules/.bin") : join(shipped, "bin");
const path = [dirname(process.execPath), commands, process.env["PATH"]].join(delimiter);

interface Place {
  readonly url: string;
  readonly token: string;
  readonly work: string;
  readonly data: string;
}

const limit = 30_000;

const run = async ({ language, code }: Snippet, { url, token, work, data }: Place) => {
  const [command, args, cwd] =
    language === "sh"
      ? (["bash", ["-euo", "pipefail", "-c", code], work] as const)
      : ([
          process.execPath,
          ["--input-type=module", "-e", `const { URL: url, TOKEN: token } = process.env;\n${code}`],
          modules,
        ] as const);
  const child = spawn(command, args, {
    cwd,
    timeout: limit,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: path, URL: url, TOKEN: token, TRIBUTARY_DATA: data, NO_COLOR: "1" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [exit, signal] = (await once(child, "close")) as [number | null, string | null];
  return { exit, signal, output };
};

describe("the snippets of", () => {
  for (const name of documents)
    it.live(
      `docs/${name}.md`,
      () =>
        Effect.gen(function* () {
          const { data, work } = yield* temporaryFolders;
          const { url } = yield* serveProcess({ cwd: work, data });
          const token = readFileSync(tokenFile(data), "utf8").trim();
          const snippets = snippetsOf(readFileSync(join(root, "docs", `${name}.md`), "utf8"));
          for (const snippet of snippets) {
            const { exit, signal, output } = yield* Effect.promise(() => run(snippet, { url, token, work, data }));
            assert.strictEqual(
              exit,
              0,
              `docs/${name}.md:${snippet.line} (${snippet.language}) ended with ${exit ?? signal}:\n${output}`,
            );
          }
        }),
      120_000,
    );

  it("can fail", async () => {
    const place = { url: "http://127.0.0.1:1", token: "t", work: root, data: root };
    const snippets = snippetsOf("text\n```sh\nfalse\ntrue\n```\n```json\n{}\n```\n```js\nawait fetch(url);\n```\n");
    assert.deepStrictEqual(
      snippets.map(({ language, line }) => [language, line]),
      [
        ["sh", 2],
        ["js", 9],
      ],
    );
    for (const snippet of snippets) assert.notStrictEqual((await run(snippet, place)).exit, 0);
  });
});
