/** What is known of an instance without opening a session: program, version, account and models. */
import { randomUUID } from "node:crypto";
import type { Installation, InstanceConfig } from "@tributary/contracts";
import { Effect, Stream } from "effect";
import { emptyFolder } from "../empty-folder.ts";
import { asObject, asText, asWords, defined, type NativeObject } from "../native.ts";
import { isOversize, makeJsonRpc } from "../process/index.ts";
import { environmentSecrets, Secrets } from "../secrets.ts";
import { capabilities } from "./capabilities.ts";
import { listModels, modelCapabilities } from "./models.ts";
import { greeting, locateCodex, notFound, oneAtFirst, spawnCodex } from "./process.ts";

/** For the version, and for each question to the short-lived app-server. */
const DEADLINE = "10 seconds";

const newMarker = (): string => `installation-${randomUUID()}`;

/** `codex-cli 0.171.0`. */
const readVersion = (instance: InstanceConfig, path: string): Effect.Effect<string | undefined> =>
  Effect.scoped(
    Effect.gen(function* () {
      const agent = yield* spawnCodex({
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

const accountOf = (reply: NativeObject): NonNullable<Installation["account"]> => {
  const account = asObject(reply["account"]);
  if (account === undefined) {
    // With another provider than OpenAI no login is needed; whether its key is right shows in the first turn.
    return { state: reply["requiresOpenaiAuth"] === true ? "missing" : "unknown" };
  }
  const label = asWords(account["email"]) ?? asText(account["type"]);
  return { state: "ok", ...defined({ label }) };
};

/** Asks a short-lived app-server; it is gone when this ends. */
const ask = (instance: InstanceConfig, path: string): Effect.Effect<Partial<Installation>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const agent = yield* spawnCodex({
        instance,
        path,
        args: ["app-server"],
        cwd: yield* emptyFolder,
        marker: newMarker(),
      });
      const rpc = yield* makeJsonRpc({ transport: agent, dialect: "bare" });
      const call = (method: string, params: NativeObject = {}) =>
        Effect.map(rpc.request(method, params, { deadline: DEADLINE }), (result) => asObject(result) ?? {});
      yield* oneAtFirst(instance, Effect.andThen(call("initialize", greeting), rpc.notify("initialized")));
      const account = accountOf(yield* call("account/read"));
      const models = yield* listModels((params) => call("model/list", params));
      yield* agent.endInput;
      return {
        account,
        models: models.map(({ id, label }) => ({ id, ...defined({ label }) })),
        capabilities: { ...capabilities, ...modelCapabilities(models) },
      };
    }),
  ).pipe(
    Effect.catch((error) =>
      Effect.succeed({
        available: false,
        problem: new Secrets(environmentSecrets(instance.env)).text(
          `codex app-server did not answer (${"failure" in error ? error.failure.message : error.message}): run it by hand, or update Codex`,
        ),
      }),
    ),
  );

export const installation = (instance: InstanceConfig): Effect.Effect<Installation> =>
  Effect.gen(function* () {
    const { path, shadowed } = yield* Effect.sync(() => locateCodex(instance));
    if (path === undefined) return { available: false, problem: notFound(instance) };
    const version = yield* readVersion(instance, path);
    const found = { available: true, path, ...(shadowed.length > 0 ? { shadowed } : {}), ...defined({ version }) };
    if (version === undefined) {
      const problem = `${path} does not tell its version: it is no Codex, or does not run on this machine`;
      return { ...found, available: false, problem };
    }
    return { ...found, ...(yield* ask(instance, path)) };
  });
