/** From an instance's options to a script: inline, from a file, or the built-in demo. */
import { readFile } from "node:fs/promises";
import { Capabilities } from "@tributary/contracts";
import { Effect, Schema } from "effect";
import { demo } from "./demo.ts";
import { Script } from "./script.ts";

/** The script can't be read or is no script; the message says where. Correct the file or the instance's `script`. */
export class ScriptError extends Schema.TaggedError<ScriptError>()("ScriptError", { message: Schema.String }) {}

/** What an instance of the scripted runtime may set in its `options`. */
export const ScriptedOptions = Schema.Struct({
  /** A file (JSON or NDJSON), or the script itself. Default: the demo. */
  script: Schema.optionalKey(Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.Unknown)])),
  /** Run it in a child process. */
  process: Schema.optionalKey(Schema.Boolean),
});

/** What a scripted session can do unless its script says otherwise. */
export const defaultCapabilities: Capabilities = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: false, http: false, listChanged: false },
  refusedOptions: {},
};

/** A script that was checked, with what follows from it. */
export interface LoadedScript {
  readonly script: Script;
  readonly capabilities: Capabilities;
  readonly inProcess: boolean;
}

const strict = { onExcessProperty: "error" } as const;
const decodeOptions = Schema.decodeUnknownSync(ScriptedOptions, strict);
const decodeScript = Schema.decodeUnknownSync(Script, strict);
const decodeCapabilities = Schema.decodeUnknownSync(Capabilities, strict);

/** Reads JSON, or NDJSON (header first, then one turn a line). Throws with the line that is wrong. */
export const parseScript = (text: string): Script => {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > 1 && isJson(lines[0] ?? "")) {
    const [header, ...turns] = lines.map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (cause) {
        throw new Error(`entry ${index + 1} is not JSON`, { cause });
      }
    });
    return decodeScript({ ...(header as object), turns });
  }
  return decodeScript(JSON.parse(text));
};

const isJson = (line: string): boolean => {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
};

const check = <A>(what: string, run: () => A): Effect.Effect<A, ScriptError> =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new ScriptError({ message: `${what} is no script: ${cause instanceof Error ? cause.message : String(cause)}` }),
  });

/** Loads what an instance's `options` name. Patterns are compiled once here, so that a bad one is told before opening. */
export const loadScript = Effect.fn("scripted.loadScript")(function* (
  options: Readonly<Record<string, unknown>> | undefined,
): Effect.fn.Return<LoadedScript, ScriptError> {
  const { script: source, process } = yield* check("`options`", () => decodeOptions(options ?? {}));
  let script: Script = demo;
  if (typeof source === "string") {
    const text = yield* Effect.tryPromise({
      try: () => readFile(source, "utf8"),
      catch: (cause) => new ScriptError({ message: `the script ${source} can't be read: ${String(cause)}` }),
    });
    script = yield* check(source, () => parseScript(text));
  } else if (source !== undefined) {
    script = yield* check("`options.script`", () => decodeScript(source));
  }
  return yield* check(script.name ?? "the script", () => {
    for (const turn of script.turns ?? []) if (turn.match !== undefined) void new RegExp(turn.match, "iu");
    return {
      script,
      capabilities: decodeCapabilities({ ...defaultCapabilities, ...script.capabilities }),
      inProcess: process !== true,
    };
  });
});
