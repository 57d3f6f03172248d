/** Builds `dist/client.js` and `dist/reducer.js`: plain ES modules for browsers. `npm run build -w @tributary/client` */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../", import.meta.url));

export const modules = { client: "src/index.ts", reducer: "src/reducer/index.ts" } as const;

export interface Built {
  readonly name: keyof typeof modules;
  readonly text: string;
  /** Bytes, minified. */
  readonly size: number;
  readonly gzip: number;
  /** What it imports at run time: nothing, else it would not load from a plain page. */
  readonly imports: ReadonlyArray<string>;
}

export const bundle = async (name: keyof typeof modules): Promise<Built> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: [modules[name]],
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    write: false,
    metafile: true,
    outfile: `dist/${name}.js`,
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild wrote nothing for ${name}`);
  return {
    name,
    text: output.text,
    size: output.contents.byteLength,
    gzip: gzipSync(output.contents, { level: 9 }).byteLength,
    imports: Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
  };
};

/** Writes the modules into a folder. */
export const buildInto = async (into: string): Promise<ReadonlyArray<Built>> => {
  mkdirSync(into, { recursive: true });
  const built = await Promise.all([bundle("client"), bundle("reducer")]);
  for (const { name, text } of built) writeFileSync(`${into}/${name}.js`, text);
  return built;
};

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { name, size, gzip } of await buildInto(`${folder}dist`))
    process.stdout.write(`dist/${name}.js  ${size} bytes minified, ${gzip} gzipped\n`);
