import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Answer, InstanceConfig, OpenOptions, RuntimeEventOf } from "@tributary/contracts";
import { loadAdapter } from "@tributary/providers";
import { claudeEnvironment, claudeModel, type RunningMockModel, startMockModel } from "@tributary/testkit";
import { Effect } from "effect";
import { type Host, makeFolders, newInput, run, runTurn, type Setup, useSession } from "./adapter-host.ts";

/** The real Claude Code, a mock model and the adapter between them, with nothing of Tributary around it. */
export interface Claude {
  readonly mock: RunningMockModel;
  /** Bodies of the model requests, as text. */
  readonly requests: Array<string>;
  readonly setup: Setup;
  /** Another instance with a home of its own; `undefined` takes a variable away. */
  readonly instance: (name: string, env?: Readonly<Record<string, string | undefined>>) => InstanceConfig;
  /** What a file of the project holds. */
  readonly written: (name: string) => string;
  readonly stop: () => Promise<void>;
}

export const startClaude = async (): Promise<Claude> => {
  const install = fileURLToPath(new URL("install.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [install]);
  const { claude: program } = JSON.parse(stdout) as { readonly claude: { readonly path: string } };
  const requests: Array<string> = [];
  const mock = await startMockModel({ onRequest: (_, body) => requests.push(JSON.stringify(body)) });
  const folder = mkdtempSync(join(tmpdir(), "tributary-claude-"));
  const adapter = await loadAdapter("claude");
  if (adapter === undefined) throw new Error("there is no claude adapter");
  const instance: Claude["instance"] = (name, env = {}) => {
    const { home } = makeFolders(join(folder, name), {});
    const all = {
      ...claudeEnvironment(mock.url, home),
      HOME: join(folder, name),
      PATH: process.env["PATH"] ?? "",
      ...env,
    };
    const given = Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
    return { id: name, runtime: "claude", command: program.path, home, env: Object.fromEntries(given) };
  };
  const setup = { adapter, instance: instance("main"), cwd: makeFolders(join(folder, "main"), {}).cwd };
  return {
    mock,
    requests,
    setup,
    instance,
    written: (name) => readFileSync(join(setup.cwd, name), "utf8"),
    stop: async () => {
      await mock.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A session of the mock's model for one test; afterwards nothing of it runs. */
export const withClaude = <A>(
  claude: Claude,
  use: (host: Host) => Effect.Effect<A, unknown>,
  more: Partial<OpenOptions> = {},
): Promise<A> => run(useSession(claude.setup, use, { model: claudeModel, ...more }));

/** Every approval with this option, every question "Blue". */
export const answering =
  (optionId: string) =>
  ({ payload }: RuntimeEventOf<"request.opened">): Answer =>
    payload.kind === "approval"
      ? { optionId }
      : { answers: Object.fromEntries((payload.questions ?? []).map(({ id }) => [id, "Blue"])) };

/** One turn to its end. */
export const turn = (host: Host, text: string, optionId = "allow") => runTurn(host, text, answering(optionId));

/** Begins a turn and does not wait for its end. */
export const begin = (host: Host, text: string) =>
  Effect.gen(function* () {
    const from = host.seen.events.length;
    const input = newInput(text);
    yield* host.session.prompt(input);
    return { from, input };
  });

/** Whole messages of an agent. */
export const messages = (host: Host, from: number, agentPath: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  host.seen
    .all("item.completed", from)
    .filter(({ payload }) => payload.itemType === "assistant_message")
    .filter((event) => (event.agentPath ?? []).join("/") === agentPath.join("/"))
    .map(({ payload }) => payload.text ?? "");

/** Ends of items of a type. */
export const ends = (host: Host, itemType: string, from: number) =>
  host.seen
    .all("item.completed", from)
    .filter(({ payload }) => payload.itemType === itemType)
    .map(({ payload }) => payload);

export const answer = (host: Host, requestId: string | undefined, given: Answer) =>
  host.session.answer?.({ requestId: requestId ?? "", answer: given }) ?? Effect.die(new Error("it takes no answers"));
