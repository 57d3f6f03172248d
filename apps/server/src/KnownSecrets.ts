/**
 * Values that must not be written anywhere when a runtime repeats them (I16): of an instance's environment, of MCP
 * servers, and answers to secret questions. In memory only: what is known of them goes with the host.
 */
import type { ClientCommand, ClientCommandOf, McpServer } from "@tributary/contracts";
import { environmentSecrets } from "@tributary/providers";
import { Writer } from "@tributary/store";
import { Context, Effect, Layer } from "effect";
import { Instances } from "./Instances.ts";

export class KnownSecrets extends Context.Service<
  KnownSecrets,
  {
    readonly of: (threadId: string) => ReadonlyArray<string>;
    /** To be called with every command before it is decided: what it carries may come back at once. */
    readonly note: (command: ClientCommand) => void;
  }
>()("tributary/server/KnownSecrets") {
  static readonly layer: Layer.Layer<KnownSecrets, never, Instances | Writer> = Layer.effect(
    KnownSecrets,
    Effect.gen(function* () {
      const instances = yield* Instances;
      const writer = yield* Writer;
      return make(
        (threadId) => writer.state(threadId),
        (instance) => environmentSecrets(instances.config(instance)?.env),
      );
    }),
  );
}

/** Values of one thread, and threads; the oldest go first. */
const most = { values: 1000, threads: 10_000 };

type StateOf = Writer["Service"]["state"];

const ofServers = (servers: ReadonlyArray<McpServer>): ReadonlyArray<string> =>
  servers.flatMap(({ env, headers }) => [...Object.values(env ?? {}), ...Object.values(headers ?? {})]);

/** Strings inside an answer: a person may have typed several. */
const strings = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(strings) : [];
};

const ofAnswer = (command: ClientCommandOf<"request.answer">, state: ReturnType<StateOf>): ReadonlyArray<string> => {
  const { answer, requestId } = command;
  if (!("answers" in answer)) return [];
  const questions = state?.requests.find((request) => request.requestId === requestId)?.questions ?? [];
  return questions.flatMap(({ id, secret }) => (secret === true ? strings(answer.answers[id]) : []));
};

const make = (
  stateOf: StateOf,
  environmentOf: (instance: string) => ReadonlyArray<string>,
): KnownSecrets["Service"] => {
  const byThread = new Map<string, ReadonlyArray<string>>();

  const add = (threadId: string, values: ReadonlyArray<string>): void => {
    if (values.length === 0) return;
    const known = byThread.get(threadId) ?? [];
    byThread.delete(threadId);
    byThread.set(threadId, [...known, ...values].slice(-most.values));
    const [oldest] = byThread.keys();
    if (byThread.size > most.threads && oldest !== undefined) byThread.delete(oldest);
  };

  return {
    of: (threadId) => {
      const instance = stateOf(threadId)?.instance;
      const given = byThread.get(threadId);
      const environment = instance === undefined ? [] : environmentOf(instance);
      return given === undefined ? environment : [...environment, ...given];
    },
    note: (command) => {
      if (command.type === "thread.create") add(command.threadId, ofServers(command.mcpServers ?? []));
      if (command.type === "request.answer") add(command.threadId, ofAnswer(command, stateOf(command.threadId)));
    },
  };
};
