/**
 * `devices.json`: every device and cookie, hashed (0600). Whoever holds the data folder is its one writer; it is written
 * as a whole, under another name, and renamed.
 */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AccessScope } from "@tributary/contracts/api";
import { Context, Effect, Layer, Schema, Semaphore } from "effect";
import { jsonMistake } from "../config/json-position.ts";
import { writePrivateFile } from "../config/private-file.ts";
import { schemaProblems } from "../config/schema.ts";

const Millis = Schema.Finite;

export const StoredDevice = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(AccessScope),
  /** Of its token. */
  hash: Schema.String,
  /** All in milliseconds since the epoch. */
  createdAt: Millis,
  expiresAt: Millis,
  lastSeenAt: Schema.optionalKey(Millis),
  revokedAt: Schema.optionalKey(Millis),
});
export type StoredDevice = typeof StoredDevice.Type;

export const StoredCookie = Schema.Struct({
  /** Of its value. */
  hash: Schema.String,
  /** The device, or `owner`. */
  holder: Schema.String,
  /** For the owner's: of a hash of the token, so that a new token ends the cookies of the old one. */
  owner: Schema.optionalKey(Schema.String),
  createdAt: Millis,
  expiresAt: Millis,
});
export type StoredCookie = typeof StoredCookie.Type;

const AuthState = Schema.Struct({
  version: Schema.Literal(1),
  devices: Schema.Array(StoredDevice),
  cookies: Schema.Array(StoredCookie),
});
export type AuthState = typeof AuthState.Type;

/** The file can't be read, or not written. The message says what to do. */
export class AuthFileError extends Schema.TaggedError<AuthFileError>()("AuthFileError", { message: Schema.String }) {}

export const devicesFile = (dir: string): string => join(dir, "devices.json");

const empty: AuthState = { version: 1, devices: [], cookies: [] };
const decode = Schema.decodeUnknownSync(AuthState);

const said = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const problemOf = (text: string): string | undefined => {
  const mistake = jsonMistake(text);
  return mistake === undefined
    ? undefined
    : `line ${mistake.line}, column ${mistake.column}: expected ${mistake.expected}`;
};

const readState = (file: string): Effect.Effect<AuthState, AuthFileError> =>
  Effect.try({
    try: () => {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return empty;
        throw cause;
      }
      const mistake = problemOf(text);
      if (mistake !== undefined) throw new Error(mistake);
      const state = decode(JSON.parse(text));
      chmodSync(file, 0o600);
      return state;
    },
    catch: (cause) =>
      new AuthFileError({
        message: `The devices in ${file} can't be read (${Schema.isSchemaError(cause) ? schemaProblems(cause) : said(cause)}). Nobody is let in on a guess: restore the file from a backup, or move it away; then every device has to be paired again.`,
      }),
  });

export class AuthFile extends Context.Service<
  AuthFile,
  {
    /** As it was last written. */
    readonly current: () => AuthState;
    /** Writes the changed state, one change after the other. What fails has changed nothing. */
    readonly update: (change: (state: AuthState) => AuthState) => Effect.Effect<void, AuthFileError>;
  }
>()("tributary/server/AuthFile") {
  static readonly layer = (dir: string): Layer.Layer<AuthFile, AuthFileError> =>
    Layer.effect(
      AuthFile,
      Effect.gen(function* () {
        const file = devicesFile(dir);
        const lock = yield* Semaphore.make(1);
        let state = yield* readState(file);
        return {
          current: () => state,
          update: (change) =>
            lock.withPermit(
              Effect.try({
                try: () => {
                  const next = change(state);
                  if (next === state) return;
                  writePrivateFile(file, `${JSON.stringify(next, null, 2)}\n`);
                  state = next;
                },
                catch: (cause) =>
                  new AuthFileError({
                    message: `${file} can't be written (${said(cause)}): free disk space or correct its permissions, then try again.`,
                  }),
              }),
            ),
        };
      }),
    );
}
