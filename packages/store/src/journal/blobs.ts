/** Large texts by the SHA-256 of their bytes: files of 0600, or memory for a store without a folder. */
import { Effect } from "effect";
import { hash } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { storeError, type StoreError } from "../StoreError.ts";

export interface Blobs {
  /** Durable when it resolves. The same text is kept once. */
  readonly put: (text: string) => Effect.Effect<{ readonly hash: string; readonly bytes: number }, StoreError>;
  readonly get: (hash: string) => string | undefined;
  readonly remove: (hash: string) => void;
  /** Every blob there is, in parts of which each costs little: what a crash left unnamed is found by it. */
  readonly parts: () => Iterable<ReadonlyArray<string>>;
}

/** Begins UTF-16 bytes; never occurs in UTF-8. */
const mark = Buffer.from([0xff, 0xfe]);

/** UTF-8, which cannot hold a lone surrogate; a text with one is kept as UTF-16. */
const encode = (text: string): Buffer =>
  text.isWellFormed() ? Buffer.from(text, "utf8") : Buffer.concat([mark, Buffer.from(text, "utf16le")]);

const decode = (bytes: Buffer): string =>
  bytes.subarray(0, 2).equals(mark) ? bytes.subarray(2).toString("utf16le") : bytes.toString("utf8");

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export const memoryBlobs = (): Blobs => {
  const texts = new Map<string, string>();
  return {
    put: (text) =>
      Effect.sync(() => {
        const bytes = encode(text);
        const name = hash("sha256", bytes);
        texts.set(name, text);
        return { hash: name, bytes: bytes.length };
      }),
    get: (name) => texts.get(name),
    remove: (name) => {
      texts.delete(name);
    },
    parts: () => [[...texts.keys()]],
  };
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

let drafts = 0;
/** Files that are being written now; others that have no hash for a name are left by a crash. */
const writing = new Set<string>();

/** Written under another name, synced and renamed: a file that has its name is whole. */
const write = async (path: string, bytes: Buffer): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  drafts += 1;
  const draft = `${path}.${process.pid}.${drafts}`;
  writing.add(draft);
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } finally {
    writing.delete(draft);
  }
  await sync(dirname(path));
};

export const fileBlobs = (dir: string): Blobs => {
  const pathOf = (name: string): string => join(dir, name.slice(0, 2), name.slice(2));
  return {
    put: (text) =>
      Effect.tryPromise({
        try: async () => {
          const bytes = encode(text);
          const name = hash("sha256", bytes);
          const path = pathOf(name);
          if (!existsSync(path)) await write(path, bytes);
          return { hash: name, bytes: bytes.length };
        },
        catch: (cause) => storeError("A blob could not be written", cause),
      }),
    get: (name) => {
      const path = pathOf(name);
      return isHash(name) && existsSync(path) ? decode(readFileSync(path)) : undefined;
    },
    remove: (name) => {
      if (isHash(name)) rmSync(pathOf(name), { force: true });
    },
    *parts() {
      for (const part of readdirSync(dir)) {
        const names = readdirSync(join(dir, part));
        for (const name of names) {
          const path = join(dir, part, name);
          if (!isHash(part + name) && !writing.has(path)) rmSync(path, { force: true, recursive: true });
        }
        yield names.map((name) => part + name).filter(isHash);
      }
    },
  };
};
