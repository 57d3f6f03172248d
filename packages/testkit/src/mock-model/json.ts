/**
 * Reading of request bodies that are not ours: what has another shape than expected reads as absent. The bodies
 * belong to the runtimes and grow fields with every version, so nothing here rejects what it does not know.
 */
export type JsonObject = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectAt = (value: unknown, key: string): JsonObject | undefined => {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
};

export const stringAt = (value: unknown, key: string): string | undefined => {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
};

export const objectsAt = (value: unknown, key: string): ReadonlyArray<JsonObject> => {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found.filter(isObject) : [];
};

/** A text that a protocol writes as a plain string or as a list of blocks with a `text` each. */
export const blockTexts = (content: unknown): ReadonlyArray<string> => {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => {
    const text = stringAt(block, "text");
    return text === undefined ? [] : [text];
  });
};
