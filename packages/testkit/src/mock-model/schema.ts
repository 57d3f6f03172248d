import { isObject, objectAt, stringAt, type JsonObject } from "./json.ts";

/** Reading of the JSON schemas that runtimes send for their tools: only what is needed to recognise and fill them. */

export const propertiesOf = (schema: JsonObject): JsonObject => objectAt(schema, "properties") ?? {};

export const requiredOf = (schema: JsonObject): ReadonlyArray<string> => {
  const required = schema["required"];
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
};

export const typeOf = (schema: unknown): string | undefined => {
  const type = isObject(schema) ? schema["type"] : undefined;
  if (Array.isArray(type)) return type.find((name): name is string => typeof name === "string" && name !== "null");
  return typeof type === "string" ? type : undefined;
};

/** The first of `names` that the schema has as a property of that type. */
export const propertyOf = (schema: JsonObject, type: string, names: ReadonlyArray<string>): string | undefined => {
  const properties = propertiesOf(schema);
  return names.find((name) => typeOf(properties[name]) === type);
};

/** The object schema of the elements of the array property, empty where there is none. */
export const itemsOf = (schema: JsonObject, property: string): JsonObject =>
  objectAt(objectAt(propertiesOf(schema), property) ?? {}, "items") ?? {};

/** Array properties whose elements are objects. */
export const listsOf = (schema: JsonObject): ReadonlyArray<string> =>
  Object.keys(propertiesOf(schema)).filter((name) => typeOf(itemsOf(schema, name)) === "object");

const placeholder = (schema: unknown): unknown => {
  const values = isObject(schema) ? schema["enum"] : undefined;
  if (Array.isArray(values) && values.length > 0) return values[0];
  switch (typeOf(schema)) {
    case "boolean":
      return false;
    case "number":
    case "integer": {
      const minimum = isObject(schema) ? schema["minimum"] : undefined;
      return typeof minimum === "number" ? minimum : 1;
    }
    case "array":
      return [];
    case "object":
      return isObject(schema) ? fill(schema, {}) : {};
    default:
      return stringAt(schema, "default") ?? "mock";
  }
};

/** Arguments that fit the schema: of `values` what it declares, and a placeholder for what it requires besides. */
export const fill = (schema: JsonObject, values: JsonObject): JsonObject => {
  const properties = propertiesOf(schema);
  const given = Object.entries(values).filter(([name, value]) => name in properties && value !== undefined);
  const missing = requiredOf(schema).filter((name) => !given.some(([known]) => known === name));
  return Object.fromEntries([...given, ...missing.map((name) => [name, placeholder(properties[name])] as const)]);
};
