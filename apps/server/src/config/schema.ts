/** What `config.json` may hold, and what it holds when there is none. Pure. */
import { InstanceConfig } from "@tributary/contracts";
import { Settings } from "@tributary/contracts/api";
import { Schema, SchemaIssue } from "effect";
import { jsonMistake } from "./json-position.ts";

export const Config = Schema.Struct({
  instances: Schema.Array(InstanceConfig),
  settings: Settings,
});
export type Config = typeof Config.Type;

/** The demo agent needs no account, no network and no model. */
export const defaultConfig: Config = {
  instances: [{ id: "demo", runtime: "scripted", label: "Demo (scripted, runs nothing)" }],
  settings: {},
};

/** Absent parts have their default, so that a file may hold one setting alone. */
const File = Schema.Struct({
  instances: Schema.optionalKey(Config.fields.instances),
  settings: Schema.optionalKey(Config.fields.settings),
});

const decode = Schema.decodeUnknownSync(File, { onExcessProperty: "error", errors: "all" });
const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1();

const pathText = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((segment) => (typeof segment === "object" ? segment.key : segment))
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
    .join("");

/** One line a mistake: `field: what is wrong`. */
export const schemaProblems = (error: unknown): string =>
  Schema.isSchemaError(error)
    ? formatIssues(error.issue)
        .issues.map((issue) => `${pathText(issue.path ?? []) || "the file"}: ${issue.message}`)
        .join("; ")
    : String(error);

/** The configuration, or what is wrong with the text: the line for a slip of syntax, the field for everything else. */
export const parseConfig = (text: string): { readonly config: Config } | { readonly problem: string } => {
  const mistake = jsonMistake(text);
  if (mistake !== undefined)
    return { problem: `line ${mistake.line}, column ${mistake.column}: expected ${mistake.expected}` };
  let file: typeof File.Type;
  try {
    file = decode(JSON.parse(text));
  } catch (error) {
    return { problem: schemaProblems(error) };
  }
  const instances = file.instances ?? defaultConfig.instances;
  const twice = instances.findIndex((one, index) => instances.findIndex(({ id }) => id === one.id) < index);
  return twice === -1
    ? { config: { instances, settings: file.settings ?? {} } }
    : { problem: `instances[${twice}].id: “${instances[twice]?.id}” is there twice` };
};

export const printConfig = (config: Config): string => `${JSON.stringify(config, null, 2)}\n`;
