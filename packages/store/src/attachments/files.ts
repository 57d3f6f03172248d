/**
 * The folder of attachments: each content once, under the SHA-256 of its bytes. A file that has a hash for a name is whole:
 * it was written under another name, synced and renamed. Nothing in the folder is followed if it is a link, and no name in
 * it ever comes from a client.
 */
import { createHash, randomBytes } from "node:crypto";
import { constants, lstatSync, type Stats } from "node:fs";
import { cp, lstat, mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../StoreError.ts";

/** Bytes read at once. */
const chunkBytes = 64 * 1024;

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** A content that is on its way into the folder. */
export interface Draft {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Durable under its own name when it resolves; the content has no other name yet. */
  readonly finish: () => Promise<{ readonly hash: string; readonly size: number }>;
  /** Gives the content its name, over whatever had it. */
  readonly keep: () => Promise<void>;
  /** Leaves nothing of a draft that was not kept. */
  readonly drop: () => Promise<void>;
}

export interface Files {
  readonly draft: () => Promise<Draft>;
  /** Where a whole content of this size is; undefined where there is none, or something else has its name. */
  readonly path: (hash: string, size: number) => string | undefined;
  /** Of what `path` named. */
  readonly read: (path: string) => AsyncIterable<Uint8Array>;
  readonly remove: (hash: string) => Promise<void>;
  /** Contents there are. What is neither a content nor being written was left by a crash, or is not ours: it goes. */
  readonly tidy: () => Promise<ReadonlyArray<string>>;
  /** What is wrong with a content: a word, or undefined. Reads all of it. */
  readonly fault: (hash: string, size: number) => Promise<"missing" | "damaged" | undefined>;
  /** Copies every content into another folder. */
  readonly copyTo: (dir: string) => Promise<void>;
}

const linked = (dir: string): StoreError =>
  new StoreError({
    reason: "io",
    message: `${dir} is not a folder but a link or a file: put a folder in its place. Links in it are never followed.`,
  });

/** Refuses a folder that leads elsewhere. */
export const expectFolder = (dir: string, stats: Stats | undefined): void => {
  if (stats !== undefined && !stats.isDirectory()) throw linked(dir);
};

const syncFolder = async (dir: string): Promise<void> => {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Opens a content; a link in its place fails (ELOOP). */
const openContent = (path: string): Promise<FileHandle> => open(path, constants.O_RDONLY | constants.O_NOFOLLOW);

async function* chunks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await openContent(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(new Uint8Array(chunkBytes), 0, chunkBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Where the folder is. */
export interface Folder {
  /** Undefined: it was not made yet. */
  readonly dir: () => string | undefined;
  readonly make: () => string;
}

const look = async (dir: string): Promise<Stats | undefined> => lstat(dir).catch(() => undefined);

export const makeFiles = (folder: Folder): Files => {
  const writing = new Set<string>();

  const draft = async (): Promise<Draft> => {
    const dir = folder.make();
    expectFolder(dir, await look(dir));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const name = `draft-${randomBytes(12).toString("hex")}`;
    const path = join(dir, name);
    writing.add(name);
    const handle = await open(path, "wx", 0o600).catch((error: unknown) => {
      writing.delete(name);
      throw error;
    });
    const digest = createHash("sha256");
    let size = 0;
    let hash = "";
    return {
      write: async (bytes) => {
        await handle.appendFile(bytes);
        digest.update(bytes);
        size += bytes.length;
      },
      finish: async () => {
        await handle.sync();
        await handle.close();
        hash = digest.digest("hex");
        return { hash, size };
      },
      keep: async () => {
        await rename(path, join(dir, hash));
        writing.delete(name);
        await syncFolder(dir);
      },
      drop: async () => {
        await handle.close().catch(() => {});
        if (writing.delete(name)) await rm(path, { force: true });
      },
    };
  };

  const path = (hash: string, size: number): string | undefined => {
    const dir = folder.dir();
    if (dir === undefined || !isHash(hash)) return undefined;
    if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    const found = join(dir, hash);
    const stats = lstatSync(found, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size === size ? found : undefined;
  };

  return {
    draft,
    path,
    read: (path) => chunks(path),
    remove: async (hash) => {
      const dir = folder.dir();
      if (dir !== undefined && isHash(hash)) await rm(join(dir, hash), { force: true });
    },
    tidy: async () => {
      const dir = folder.dir();
      const stats = dir === undefined ? undefined : await look(dir);
      if (dir === undefined || stats === undefined) return [];
      expectFolder(dir, stats);
      const names = await readdir(dir);
      for (const name of names)
        // Never what a link points to: `rm` removes the link.
        if (!isHash(name) && !writing.has(name)) await rm(join(dir, name), { force: true, recursive: true });
      return names.filter(isHash);
    },
    fault: async (hash, size) => {
      const found = path(hash, size);
      if (found === undefined) {
        const dir = folder.dir();
        return dir === undefined || (await look(join(dir, hash))) === undefined ? "missing" : "damaged";
      }
      const digest = createHash("sha256");
      for await (const bytes of chunks(found)) digest.update(bytes);
      return digest.digest("hex") === hash ? undefined : "damaged";
    },
    copyTo: async (target) => {
      const dir = folder.dir();
      const stats = dir === undefined ? undefined : await look(dir);
      if (dir === undefined || stats === undefined) return;
      expectFolder(dir, stats);
      for (const name of await readdir(dir)) {
        const from = join(dir, name);
        // Links and drafts stay where they are.
        if (!isHash(name) || !(await lstat(from)).isFile()) continue;
        await cp(from, join(target, name), { mode: constants.COPYFILE_FICLONE });
      }
      await syncFolder(target);
    },
  };
};
