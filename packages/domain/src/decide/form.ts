/**
 * Forms: a JSON schema of flat fields, as MCP elicitation has it. What is not understood of a schema is not checked: the
 * runtime checks again.
 */
type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema of each field by name. */
export const formFields = (form: unknown): Fields =>
  isObject(form) && isObject(form["properties"]) ? form["properties"] : {};

/** A field whose value is for the runtime's eyes only. */
export const isSecretField = (field: unknown): boolean =>
  isObject(field) && (field["format"] === "password" || field["writeOnly"] === true);

const checks: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  array: (value) => Array.isArray(value),
};

/** The values a field lists, as `enum` or as titled constants. */
const choices = (field: Fields): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(field["enum"])) return field["enum"];
  const titled = field["oneOf"] ?? field["anyOf"];
  return Array.isArray(titled) && titled.every((choice) => isObject(choice) && "const" in choice)
    ? titled.map((choice: Fields) => choice["const"])
    : undefined;
};

const fieldProblem = (name: string, field: unknown, value: unknown): string | undefined => {
  if (!isObject(field)) return undefined;
  const { type } = field;
  const check = typeof type === "string" && Object.hasOwn(checks, type) ? checks[type] : undefined;
  if (check !== undefined && !check(value)) return `Field ${name} must be of type ${String(type)}`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = fieldProblem(name, field["items"], item);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const offered = choices(field);
  return offered === undefined || offered.includes(value)
    ? undefined
    : `${JSON.stringify(value)} is not offered for ${name}; offered: ${offered.map((choice) => JSON.stringify(choice)).join(", ")}`;
};

/** Why the values do not fit the form; undefined when they do. */
export const formProblem = (form: unknown, values: Fields): string | undefined => {
  const fields = formFields(form);
  const names = Object.keys(fields);
  const required = isObject(form) && Array.isArray(form["required"]) ? form["required"] : [];
  const missing = required.find((name) => !Object.hasOwn(values, String(name)));
  if (missing !== undefined) return `Field ${String(missing)} is required`;
  for (const [name, value] of Object.entries(values)) {
    if (!Object.hasOwn(fields, name)) return `${name} was not asked; asked: ${names.join(", ")}`;
    const problem = fieldProblem(name, fields[name], value);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
