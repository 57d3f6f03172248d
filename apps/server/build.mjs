/**
 * `npm run build`: what ships, as plain JavaScript in `dist/` (or the folder that is named): the command line, the
 * embedded entry, and the agent of the demo, which runs as a process of its own. Nothing is left to be resolved but Node.
 */
import { rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const from = (path) => fileURLToPath(new URL(path, import.meta.url));
const outdir = process.argv[2] ?? from("./dist");

rmSync(outdir, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: {
    main: from("./src/main.ts"),
    index: from("./src/index.ts"),
    "rpc-client": from("./src/rpc/client.ts"),
    // Found beside whichever file starts it, under this name.
    "scripted-child": from("../../packages/providers/src/scripted/child.ts"),
  },
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  // A command loads what it needs: most start without the parts of the others.
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  minify: true,
  // Names of functions stand in traces and spans.
  keepNames: true,
  metafile: true,
  logLevel: "warning",
  // A few packages that came as CommonJS ask for Node's modules by `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});
const bytes = Object.keys(metafile.outputs).reduce((sum, path) => sum + statSync(path).size, 0);
process.stdout.write(`${outdir}: ${Object.keys(metafile.outputs).length} files, ${(bytes / 1024).toFixed(0)} KiB\n`);
