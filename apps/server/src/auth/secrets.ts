/** Tokens, codes and what is kept of them. Nothing here is ever printed; at rest there are hashes alone. */
import { createHash, randomBytes, randomInt } from "node:crypto";

/** 32 random bytes: of a device, a cookie, or a claim. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** What may be kept of a secret: it has so much chance in it that a plain hash can't be turned back. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

/** A short random id, safe to show. */
export const newId = (kind: string): string => `${kind}-${randomBytes(9).toString("base64url")}`;

/** Crockford's base 32: no letter that reads like a digit. */
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const half = 5;

/** Fifty random bits for people: `K7QMD-2X9TA`. */
export const newCode = (): string => {
  const code = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join("");
  return `${code.slice(0, half)}-${code.slice(half)}`;
};

/** A code as it was typed: small letters, spaces, and the letters that people take for digits are all right. */
export const readCode = (typed: string): string =>
  typed
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replaceAll(/[IL]/g, "1");
