// Installs the pinned runtimes into a cache folder and prints where their programs are, as JSON:
//
//   node tests/runtimes/install.mjs
//   {"folder":"…","codex":{"version":"…","path":"…"},"claude":{"version":"…","path":"…"}}
//
// The folder is named after the lock file and the platform, so a changed pin installs anew and an unchanged one costs
// nothing. Default: .cache/runtimes in the repository; TRIBUTARY_RUNTIMES_DIR names another parent folder.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const files = ["package.json", "package-lock.json", ".npmrc"];
const exe = process.platform === "win32" ? ".exe" : "";

/** The folder that this lock belongs in, on this platform. */
export const runtimesFolder = () => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const file of files) hash.update(readFileSync(join(here, file)));
  const parent = process.env["TRIBUTARY_RUNTIMES_DIR"] ?? join(here, "../../.cache/runtimes");
  return join(resolve(parent), hash.digest("hex").slice(0, 16));
};

const versionOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;

/** `vendor/<target triple>/bin/codex` in the platform's package: the program itself, not its Node wrapper. */
const findCodex = (modules) => {
  const vendor = join(modules, `@openai/codex-${process.platform}-${process.arch}`, "vendor");
  const triple = existsSync(vendor) ? readdirSync(vendor)[0] : undefined;
  if (triple === undefined) return undefined;
  return { version: versionOf(join(modules, "@openai/codex")), path: join(vendor, triple, "bin", `codex${exe}`) };
};

/** The program in the SDK's platform package; on Linux npm takes the one for this C library. */
const findClaude = (modules) => {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  const folder = [name, `${name}-musl`].map((each) => join(modules, each)).find((each) => existsSync(each));
  if (folder === undefined) return undefined;
  return { version: versionOf(folder), path: join(folder, `claude${exe}`) };
};

/** Where the programs are, undefined while one is missing. */
export const findRuntimes = (folder = runtimesFolder()) => {
  const modules = join(folder, "node_modules");
  const codex = findCodex(modules);
  const claude = findClaude(modules);
  if (codex === undefined || claude === undefined) return undefined;
  return existsSync(codex.path) && existsSync(claude.path) ? { folder, codex, claude } : undefined;
};

/** `npm ci` in the folder. The npm that started us, else the one on the PATH. */
const npmCi = (folder) =>
  new Promise((done, failed) => {
    const npm = process.env["npm_execpath"];
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    // What npm says goes to stderr: stdout is for the JSON.
    const options = { cwd: folder, stdio: ["ignore", 2, 2] };
    const child =
      npm === undefined
        ? spawn(process.platform === "win32" ? "npm.cmd" : "npm", args, {
            ...options,
            shell: process.platform === "win32",
          })
        : spawn(process.execPath, [npm, ...args], options);
    child.on("error", failed);
    child.on("exit", (code) =>
      code === 0 ? done() : failed(new Error(`npm ci failed with code ${code} in ${folder}`)),
    );
  });

/** Installs what is missing. Safe beside another install: both work apart, the first to finish is kept. */
export const installRuntimes = async () => {
  const folder = runtimesFolder();
  const installed = findRuntimes(folder);
  if (installed !== undefined) return installed;
  rmSync(folder, { recursive: true, force: true });
  const partial = `${folder}.partial-${process.pid}`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  try {
    for (const file of files) copyFileSync(join(here, file), join(partial, file));
    await npmCi(partial);
    try {
      renameSync(partial, folder);
    } catch (error) {
      if (findRuntimes(folder) === undefined) throw error;
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  const found = findRuntimes(folder);
  if (found === undefined)
    throw new Error(`npm ci left no program for ${process.platform} ${process.arch} in ${folder}`);
  return found;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(await installRuntimes())}\n`);
}
