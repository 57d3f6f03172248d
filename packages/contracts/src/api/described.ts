/**
 * What the API's document says of each operation besides its schemas: in a line what it does, what scope it asks for, and
 * an example of what is sent and answered (`examples.json`; a test reads each with its schema).
 */
import type { AccessScope } from "./access.ts";
import examples from "./examples.json" with { type: "json" };

/** By operation id. */
const summaries: Readonly<Record<string, string>> = {
  health: "Whether it is up",
  version: "Version and protocol",
  "projects.list": "Folders that agents may work in",
  "projects.create": "Register a folder",
  "projects.update": "Give a project another title",
  "projects.remove": "Take a project off the list; its files stay",
  "threads.list": "Threads as a list shows them, the newest first",
  "threads.create": "Begin a conversation, with its first input or without",
  "threads.get": "A thread's newest whole turns as rows, and what waits",
  "threads.update": "Rename, archive or configure",
  "threads.remove": "Delete, or erase at once with `purge=true`",
  "threads.interrupt": "Stop the turn that runs, or what an input is at",
  "threads.release": "End the agent; the next input starts it again with what it remembers",
  "threads.forget": "Begin anew with the next input, without what the agent remembers",
  "threads.resumeQueue": "Go on with what waits after a turn that failed or was stopped",
  "threads.read": "Mark rows as read",
  "threads.row": "One row whole, where the page had to cut it",
  "threads.turnDiff": "What a turn changed in files",
  "threads.itemOutput": "The output of a command or a tool",
  "threads.diagnostics": "What was unknown, unreadable and refused, and what is stalled",
  "threads.records": "The native frames that crossed the boundary to the agent",
  "inputs.list": "Inputs that are not done",
  "inputs.submit": "Say something: a prompt, steering or for the queue",
  "inputs.edit": "Change an input that waits; resubmit or discard one that failed",
  "inputs.withdraw": "Take back an input that waits",
  "attachments.upload": "Upload a file; an input then names its id",
  "attachments.download": "A file's bytes",
  "attachments.remove": "Remove a file that no thread uses",
  "requests.list": "What agents wait for, in all threads or in one",
  "requests.answer": "Answer an approval or questions",
  "events.page": "A thread's events after a cursor, a page at a time",
  "events.live": "A thread's events, and text that is not in the log yet, as server-sent events",
  "events.liveMany": "The list of threads, and the events of some, as server-sent events",
  "events.replay": "A thread's events whole (session-replay convention)",
  "events.sessionLive": "The same stream as `/threads/{threadId}/live` (session-replay convention)",
  "instances.list": "Agents: the configured ones and those found, and what they can do",
  "instances.create": "Configure an agent",
  "instances.get": "One agent",
  "instances.update": "Change an agent's configuration",
  "instances.remove": "Take an agent out of the configuration",
  limits: "What calls must stay within",
  metrics: "Counters",
  settings: "Settings, and what is wrong with the configuration file",
  changeSettings: "Change settings; those that are not named stay",
  "maintenance.rebuild": "Make lists and pages anew from the log",
  "maintenance.backup": "Copy the store into an empty folder",
  "maintenance.check": "Whether files are whole, and lists what the log says",
  "maintenance.prune": "Let go of old journal records",
  "devices.list": "Paired devices; a device sees itself",
  "devices.revoke": "End a device's token at once",
  "pairings.start": "Let another device in: makes a code",
  "pairings.get": "Whether somebody has claimed the code, and who",
  "pairings.decide": "Confirm or refuse who claimed",
  "claims.claim": "The device's side: claim a code",
  "claims.collect": "The device's side: wait for the decision, and get the token",
  "cookie.set": "Trade the token for a browser's cookie",
  "cookie.clear": "End the cookie",
  "audit.list": "What was done about access",
  "rpc.ticket": "A ticket for a WebSocket",
  "rpc.connect": "Open a WebSocket",
};

type Content = Readonly<Record<string, object>>;

interface Operation {
  readonly operationId: string;
  readonly security: ReadonlyArray<unknown>;
  readonly description?: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** By operation id. Where a schema has an example of its own, none is needed here. */
export const operationExamples: Readonly<Record<string, { readonly request?: unknown; readonly response?: unknown }>> =
  examples;

/** Frames of a live stream, as they come over the wire. */
const frames = [
  'id: e:3f9c1a.42\nevent: event\ndata: {"cursor":"e:3f9c1a.42","sequence":42,"streamId":"thread-1","type":"message.completed","occurredAt":"2026-01-01T10:00:00.000Z","payload":{"messageId":"t1.1//i1#0","length":11}}',
  'id: e:3f9c1a.42\nevent: synced\ndata: {"serverTime":"2026-01-01T10:00:01.000Z","sequence":42}',
  'event: ping\ndata: {"serverTime":"2026-01-01T10:00:11.000Z"}',
]
  .map((frame) => `${frame}\n\n`)
  .join("");

const withExample = (content: Content, example: unknown): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const shown = type === "text/event-stream" ? frames : type === "application/json" ? example : undefined;
      return [type, shown === undefined ? media : { ...media, example: shown }];
    }),
  );

const exemplified = ({ operationId, requestBody, responses }: Operation) => {
  const { request, response } = operationExamples[operationId] ?? {};
  return {
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, content: withExample(requestBody.content, request) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [
        status,
        answer.content === undefined || !status.startsWith("2")
          ? answer
          : { ...answer, content: withExample(answer.content, response) },
      ]),
    ),
  };
};

/** Adds these to each operation of an OpenAPI document. `x-scope` is the scope for programs. */
export const describeOperations = (
  document: Readonly<Record<string, unknown>>,
  scopes: ReadonlyMap<string, AccessScope>,
): Record<string, unknown> => {
  const describe = (operation: Operation) => {
    const { operationId, security, description } = operation;
    const scope = security.length === 0 ? undefined : scopes.get(operationId);
    const needs = scope === undefined ? "Needs no token." : `Scope: \`${scope}\`.`;
    return {
      ...operation,
      ...exemplified(operation),
      summary: summaries[operationId],
      description: description === undefined ? needs : `${description} ${needs}`,
      ...(scope === undefined ? {} : { "x-scope": scope }),
    };
  };
  const paths = Object.entries(document["paths"] as Record<string, Record<string, Operation>>).map(
    ([path, operations]) => [
      path,
      Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, describe(operation)])),
    ],
  );
  return { ...document, paths: Object.fromEntries(paths) };
};
