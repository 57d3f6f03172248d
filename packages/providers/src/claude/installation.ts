/** What is known of an instance without opening a session: program, version, account and models. */
import { randomUUID } from "node:crypto";
import type { Installation, InstanceConfig } from "@tributary/contracts";
import { Effect, Option, Stream } from "effect";
import { emptyFolder } from "../empty-folder.ts";
import { asObject, asWords, defined, type NativeObject } from "../native.ts";
import { isOversize } from "../process/index.ts";
import { capabilities } from "./capabilities.ts";
import { locateClaude, notFound, spawnClaude, wireArguments } from "./program.ts";
import { effortsFor, type Greeting, modelIds, readGreeting } from "./settings.ts";

/** For the version, and for the greeting of a short-lived session. */
const DEADLINE = "15 seconds";

const newMarker = (): string => `installation-${randomUUID()}`;

/** `2.1.332 (Claude Code)`. */
const readVersion = (instance: InstanceConfig, path: string): Effect.Effect<string | undefined> =>
  Effect.scoped(
    Effect.gen(function* () {
      const agent = yield* spawnClaude({
        instance,
        path,
        args: ["--version"],
        cwd: yield* emptyFolder,
        marker: newMarker(),
      });
      const lines = yield* Stream.runCollect(agent.lines);
      const line = lines.find((each) => !isOversize(each) && /\d+\.\d+\.\d+/.test(each));
      return typeof line === "string" ? /\d+\.\d+\.\d+\S*/.exec(line)?.[0] : undefined;
    }),
  ).pipe(
    Effect.timeoutOrElse({ duration: DEADLINE, orElse: () => Effect.succeed(undefined) }),
    Effect.catch(() => Effect.succeed(undefined)),
  );

const accountOf = (account: NativeObject): NonNullable<Installation["account"]> => {
  const label = asWords(account["email"]) ?? asWords(account["organization"]) ?? asWords(account["apiKeySource"]);
  const hasToken = [account["tokenSource"], account["apiKeySource"]].some((source) => {
    const name = asWords(source);
    return name !== undefined && name !== "none";
  });
  if (hasToken || account["email"] !== undefined) return { state: "ok", ...defined({ label }) };
  // Other providers than the vendor take their logins from elsewhere.
  return { state: account["apiProvider"] === "firstParty" ? "missing" : "unknown" };
};

/** Leaves no trace: no transcript, no hooks of the person, none of their MCP servers. */
const quiet = ["--no-session-persistence", "--strict-mcp-config", "--settings", '{"disableAllHooks":true}'];

const greetingIn = (line: string): NativeObject | undefined => {
  try {
    const response = asObject(asObject(JSON.parse(line))?.["response"]);
    return response?.["subtype"] === "success" ? asObject(response["response"]) : undefined;
  } catch {
    return undefined;
  }
};

/** Asks a short-lived session; it is gone when this ends. Nothing where it does not answer. */
const greet = (instance: InstanceConfig, path: string): Effect.Effect<Greeting | undefined> =>
  Effect.scoped(
    Effect.gen(function* () {
      const args = [...wireArguments, ...quiet];
      const agent = yield* spawnClaude({ instance, path, args, cwd: yield* emptyFolder, marker: newMarker() });
      const request = { type: "control_request", request_id: "1", request: { subtype: "initialize", hooks: null } };
      yield* agent.write(JSON.stringify(request));
      const bodies = agent.lines.pipe(
        Stream.map((line) => (isOversize(line) ? undefined : greetingIn(line))),
        Stream.filter((body) => body !== undefined),
      );
      const body = Option.getOrUndefined(yield* Stream.runHead(bodies));
      yield* agent.endInput;
      return body === undefined ? undefined : readGreeting(body);
    }),
  ).pipe(
    Effect.timeoutOrElse({ duration: DEADLINE, orElse: () => Effect.succeed(undefined) }),
    Effect.catch(() => Effect.succeed(undefined)),
  );

const factsOf = (greeting: Greeting): Partial<Installation> => {
  const models = greeting.models.flatMap((model) => {
    const id = asWords(model["value"]);
    return id === undefined ? [] : [{ id, ...defined({ label: asWords(model["displayName"]) }) }];
  });
  const efforts = effortsFor(greeting, undefined);
  return {
    account: accountOf(greeting.account),
    models,
    capabilities: {
      ...capabilities,
      models: modelIds(greeting),
      ...(efforts.length === 0 ? {} : { efforts }),
    },
  };
};

export const installation = (instance: InstanceConfig): Effect.Effect<Installation> =>
  Effect.gen(function* () {
    const { path, shadowed } = yield* Effect.sync(() => locateClaude(instance));
    if (path === undefined) return { available: false, problem: notFound(instance) };
    const version = yield* readVersion(instance, path);
    const found = { available: true, path, ...(shadowed.length > 0 ? { shadowed } : {}), ...defined({ version }) };
    if (version === undefined) {
      const problem = `${path} does not tell its version: it is no Claude Code, or does not run on this machine`;
      return { ...found, available: false, problem };
    }
    const greeting = yield* greet(instance, path);
    if (greeting !== undefined) return { ...found, ...factsOf(greeting) };
    // It is there and may well run; what it would say is not known.
    return { ...found, account: { state: "unknown" as const }, capabilities };
  });
