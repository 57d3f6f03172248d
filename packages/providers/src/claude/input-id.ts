import { createHash } from "node:crypto";

/**
 * The uuid that the runtime knows an input by: the same for the same attempt, and a valid UUID (version 8).
 *
 * The attempt is part of it because the runtime remembers uuids in its transcript, and takes a message with a known one for
 * the same message: it repeats it and runs nothing (observed 2.1.332). An input that a person sends again must run.
 */
export const inputUuid = (
  inputId: string,
  attempt: { readonly generation: number; readonly number: number },
): string => {
  const hash = createHash("sha256")
    .update(JSON.stringify([inputId, attempt.generation, attempt.number]))
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
};
