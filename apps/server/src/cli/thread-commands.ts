/** What is done to a thread as a whole: made, named, set up, put away, erased; its session let go, its queue resumed. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Effect } from "effect";
import { attachFiles } from "./attachments.ts";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { CliFailure } from "./failure.ts";
import { usage } from "./failure.ts";
import { print, printJson } from "./output.ts";
import type { Target } from "./root.ts";
import { wordsOf } from "./words.ts";

type Told<A> = (value: A) => string;

/**
 * One call, and what to say of it. What changes something needs a server: an engine that starts for the moment of one call
 * would begin with whatever waits, and end it at once.
 */
const calling = Effect.fnUntraced(function* <A, E>(
  target: Target,
  depth: "store" | "nothing",
  call: (client: Connection["client"], access: Connection["access"]) => Effect.Effect<A, E>,
  told: Told<A>,
) {
  const { client, access } = yield* connect(target, depth);
  const value = yield* Effect.mapError(call(client, access), clientFailure(access));
  return yield* target.json ? printJson(value) : print(told(value));
}, Effect.scoped);

const headers = {};

export interface Create {
  readonly instance: string;
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly approvalMode: "ask" | "accept_edits" | "full_access" | undefined;
  readonly resume: string | undefined;
}

const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

export const createThread = (target: Target, { instance, cwd, resume, ...rest }: Create) =>
  calling(
    target,
    "nothing",
    (client) =>
      client.threads.create({
        headers,
        payload: {
          instance,
          cwd: resolve(cwd ?? process.cwd()),
          ...defined(rest),
          ...(resume === undefined ? {} : { resume: { nativeSessionId: resume } }),
        },
      }),
    ({ threadId }) => `${threadId}\n`,
  );

export const renameThread = (target: Target, threadId: string, title: string) =>
  calling(
    target,
    "nothing",
    (client) => client.threads.update({ params: { threadId }, headers, payload: { title } }),
    () => `Thread ${threadId} is called “${title}”.\n`,
  );

export const archiveThread = (target: Target, threadId: string, archived: boolean) =>
  calling(
    target,
    "nothing",
    (client) => client.threads.update({ params: { threadId }, headers, payload: { archived } }),
    () => `Thread ${threadId} is ${archived ? "archived" : "back"}.\n`,
  );

export const removeThread = (target: Target, threadId: string, purge: boolean) =>
  calling(
    target,
    "nothing",
    (client) =>
      client.threads.remove({ params: { threadId }, headers, query: purge ? { purge: "true" as const } : {} }),
    () =>
      purge
        ? `Thread ${threadId} is erased for good.\n`
        : `Thread ${threadId} is deleted; \`tributary threads purge ${threadId}\` erases what it said at once.\n`,
  );

export interface Configure {
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly serviceTier: string | undefined;
  readonly approvalMode: "ask" | "accept_edits" | "full_access" | undefined;
  readonly interactionMode: "default" | "plan" | undefined;
  readonly textDelivery: "streaming" | "buffered" | undefined;
}

const when = { now: "now", next_turn: "with its next turn", reopening: "when its session opens next" } as const;

export const configureThread = (
  target: Target,
  threadId: string,
  settings: Configure,
): Effect.Effect<void, CliFailure> => {
  const payload = defined(settings);
  if (Object.keys(payload).length === 0)
    return Effect.fail(usage("Name a setting to change: --model, --effort, --approval-mode, …"));
  return calling(
    target,
    "nothing",
    (client) => client.threads.update({ params: { threadId }, headers, payload }),
    ({ applies = "now" }) => `Thread ${threadId} is changed; it applies ${when[applies]}.\n`,
  );
};

/** Everything that is there now, unless a position is named. */
export const readThread = Effect.fn("cli.threads.read")(function* (
  target: Target,
  threadId: string,
  upTo: number | undefined,
) {
  const { client, access } = yield* connect(target, "nothing");
  const read = Effect.gen(function* () {
    const position =
      upTo ?? (yield* client.threads.get({ params: { threadId }, query: { maxBytes: 1024 } })).thread.lastPosition;
    const receipt = yield* client.threads.read({ params: { threadId }, headers, payload: { upTo: position } });
    return { position, receipt };
  });
  const { position, receipt } = yield* Effect.mapError(read, clientFailure(access));
  return yield* target.json ? printJson(receipt) : print(`Read up to ${position}.\n`);
}, Effect.scoped);

export const releaseSession = (target: Target, threadId: string) =>
  calling(
    target,
    "nothing",
    (client) => client.threads.release({ params: { threadId }, headers }),
    () => `Let go of the agent of thread ${threadId}; the next input starts it again.\n`,
  );

export const forgetSession = (target: Target, threadId: string) =>
  calling(
    target,
    "nothing",
    (client) => client.threads.forget({ params: { threadId }, headers }),
    () => `The agent of thread ${threadId} begins anew with the next input.\n`,
  );

export const resumeQueue = (target: Target, threadId: string) =>
  calling(
    target,
    "nothing",
    (client) => client.threads.resumeQueue({ params: { threadId }, headers }),
    () => `The queue of thread ${threadId} goes on.\n`,
  );

// --- inputs

export interface Send {
  readonly threadId: string;
  readonly text: string;
  readonly delivery: "auto" | "prompt" | "steer" | "queue";
  readonly inputId: string | undefined;
  readonly source: string | undefined;
  /** Files that go along. */
  readonly attach: ReadonlyArray<string>;
}

const way = {
  prompt: "It is the next prompt",
  steer: "It steers the running turn",
  queue: "It waits in the queue",
} as const;

/** `source`: something that acts for a person says it, and the thread shows that it did. */
export const sendInput = (target: Target, { threadId, text: typed, delivery, inputId, source, attach }: Send) =>
  Effect.flatMap(wordsOf(typed, attach), (text) =>
    calling(
      target,
      "nothing",
      (client, access) =>
        Effect.flatMap(attachFiles(access, attach), (attached) =>
          client.inputs.submit({
            params: { threadId },
            headers,
            payload: {
              inputId: inputId ?? randomUUID(),
              text,
              delivery,
              ...attached,
              ...(source === undefined ? {} : { origin: { kind: "automation" as const, source } }),
            },
          }),
        ),
      ({ inputId: id, receipt: { mode = "queue" } }) => `${way[mode]} (input ${id}).\n`,
    ),
  );

export const listInputs = (target: Target, threadId: string) =>
  calling(
    target,
    "store",
    (client) => client.inputs.list({ params: { threadId } }),
    ({ inputs }) =>
      inputs.length === 0
        ? "No input waits.\n"
        : inputs
            .map(({ id, state, mode, text, reason, error }) => {
              const why = error?.message ?? reason;
              const words = text.replaceAll(/\s+/g, " ");
              return `${id}  ${state} (${mode})${why === undefined ? "" : `: ${why}`}\n  ${words.slice(0, 100)}${words.length > 100 ? "…" : ""}\n`;
            })
            .join(""),
  );

export const editInput = (target: Target, threadId: string, inputId: string, text: string) =>
  calling(
    target,
    "nothing",
    (client) => client.inputs.edit({ params: { threadId, inputId }, headers, payload: { text } }),
    () => `Input ${inputId} is changed.\n`,
  );

export const withdrawInput = (target: Target, threadId: string, inputId: string) =>
  calling(
    target,
    "nothing",
    (client) => client.inputs.withdraw({ params: { threadId, inputId }, headers }),
    () =>
      `Input ${inputId} is taken back. (If the agent has it already, \`tributary inputs list ${threadId}\` shows whether it gives it back.)\n`,
  );

/** What the agent refused, or what nobody knows whether it read. */
export const settleInput = (target: Target, threadId: string, inputId: string, state: "resubmit" | "discard") =>
  calling(
    target,
    "nothing",
    (client) => client.inputs.edit({ params: { threadId, inputId }, headers, payload: { state } }),
    () => (state === "resubmit" ? `Input ${inputId} is sent again.\n` : `Input ${inputId} is put away.\n`),
  );
