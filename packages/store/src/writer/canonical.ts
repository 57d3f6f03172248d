import { hash } from "node:crypto";

/** JSON with the keys of every object in order, so that the same value gives the same text. Absent fields are left out. */
export const canonicalJson = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const fields: Array<string> = [];
  for (const [name, field] of Object.entries(value).toSorted(byName)) {
    if (field !== undefined) fields.push(`${JSON.stringify(name)}:${canonicalJson(field)}`);
  }
  return `{${fields.join(",")}}`;
};

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;

/** Tells whether two commands ask for the same: SHA-256 of the body without its commandId. */
export const fingerprint = (command: { readonly commandId: string }): string => {
  const { commandId: _, ...body } = command;
  return hash("sha256", canonicalJson(body), "base64url");
};
