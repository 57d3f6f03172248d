/** The owner's token: made at the first start, kept in a file that only the owner may read. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Schema } from "effect";
import { createPrivateFile } from "./private-file.ts";

/** The token file can't be read or written. Correct its permissions, or delete it: the next start makes a new one. */
export class TokenError extends Schema.TaggedError<TokenError>()("TokenError", { message: Schema.String }) {}

export const tokenFile = (dir: string): string => join(dir, "token");

const readToken = (path: string): string => {
  const token = readFileSync(path, "utf8").trim();
  if (!/^[\w-]{43}$/.test(token)) throw new Error("it holds no token");
  return token;
};

/** One that was put there by hand, from a backup perhaps, is for its owner alone too; a mounted one is its mounter's. */
const keepPrivate = (path: string): void => {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The folder keeps others out.
  }
};

/** Reads the token of a data folder; the first time it makes one: 32 random bytes, base64url, 0600. */
export const ensureToken = (dir: string): Effect.Effect<string, TokenError> =>
  Effect.try({
    try: () => {
      const path = tokenFile(dir);
      // Whoever comes second reads what the first one wrote.
      if (!createPrivateFile(path, `${randomBytes(32).toString("base64url")}\n`)) keepPrivate(path);
      return readToken(path);
    },
    catch: (cause) =>
      new TokenError({
        message: `The token file ${tokenFile(dir)} can't be used (${cause instanceof Error ? cause.message : String(cause)}); correct it, or delete it to get a new token at the next start.`,
      }),
  });

/** Reads the token from a file that `--token-file` names, or of a data folder. */
export const loadToken = (path: string): Effect.Effect<string, TokenError> =>
  Effect.try({
    try: () => readToken(path),
    catch: (cause) =>
      new TokenError({
        message: `No token could be read from ${path} (${cause instanceof Error ? cause.message : String(cause)}); a server writes it to its data folder at the first start.`,
      }),
  });

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();

/** Compares in constant time, whatever the length of what was sent. */
export const tokenVerifier = (token: string): ((sent: string) => boolean) => {
  const expected = digest(token);
  return (sent) => timingSafeEqual(digest(sent), expected);
};
