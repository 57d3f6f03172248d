/** The HTTP API (design section 10). OpenAPI, the typed client and the server all come from this value. */
import { Schema } from "effect";
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api";
import { Installation, InstanceConfig } from "../adapter.ts";
import { commandSchemas, inputFields, Receipt } from "../commands.ts";
import { Generation, Id } from "../ids.ts";
import { Count, opt } from "../json.ts";
import { Answer } from "../values.ts";
import { InputView, ProjectView, RequestRow, RequestState, ThreadPage, ThreadShell, TurnView } from "../views.ts";
import { Authorization, RequiredScope } from "./access.ts";
import {
  BadRequest,
  CommandRejected,
  CursorProblem,
  Internal,
  NotFound,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType,
} from "./problems.ts";

const readErrors = [BadRequest, NotFound, CursorProblem, Internal, Unavailable] as const;
const writeErrors = [
  BadRequest,
  CommandRejected,
  PayloadTooLarge,
  UnsupportedMediaType,
  Internal,
  Unavailable,
] as const;

/** `Idempotency-Key` is the commandId: send the same key again to repeat a call safely. Absent: the server makes one. */
const mutating = { "idempotency-key": opt(Id) };

const Accepted = Receipt.members[0];
const Limit = Schema.NumberFromString.check(Schema.isBetween({ minimum: 1, maximum: 1000 }));
const Cursor = Schema.String;

const omit = <F extends Schema.Struct.Fields, const K extends keyof F & string>(fields: F, keys: ReadonlyArray<K>) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !(keys as ReadonlyArray<string>).includes(key))) as Omit<
    F,
    K
  >;

const envelope = ["type", "commandId", "threadId"] as const;
const createThread = {
  ...omit(commandSchemas["thread.create"].fields, envelope),
  /** Client-made; absent: the server makes one. */
  threadId: opt(Id),
};

const page = { before: opt(Cursor), limit: opt(Limit) };

/** A public event: what happened, under the cursor that resumes after it. Unknown types are to be skipped (I18). */
export const PublicEvent = Schema.Struct({
  cursor: Cursor,
  sequence: Count,
  streamId: Id,
  type: Schema.String,
  occurredAt: Schema.String,
  payload: Schema.Unknown,
});
export type PublicEvent = typeof PublicEvent.Type;

export const EventPage = Schema.Struct({
  events: Schema.Array(PublicEvent),
  /** Ask again after this one. */
  next: Cursor,
  /** Nothing more for now. */
  done: Schema.Boolean,
});

/** Text that is not in the log yet (design section 10). Apply it when everything up to `after` was applied. */
export const LiveText = Schema.Struct({
  threadId: Id,
  rowId: Id,
  /** Raised when the text was replaced or retracted: forget what was shown of it. */
  revision: Count,
  /** The sequence it stands on. */
  after: Count,
  turnId: opt(Id),
  agentPath: Schema.Array(Id),
  itemId: opt(Id),
  stream: Schema.Literals(["assistant_text", "reasoning", "reasoning_summary", "command_output"]),
  /** UTF-16 code units of the row before `text`. */
  offset: Count,
  text: Schema.String,
});
export type LiveText = typeof LiveText.Type;

const sse = <const Name extends string, Data extends Schema.Top>(name: Name, data: Data) =>
  Schema.Struct({ id: opt(Schema.String), event: Schema.Literal(name), data: Schema.fromJsonString(data) });

/** Frames of every live stream. `id` is the cursor. */
export const LiveFrame = Schema.Union([
  sse("event", PublicEvent),
  sse("shell", ThreadShell),
  sse("live", LiveText),
  sse("synced", Schema.Struct({ serverTime: Schema.String, sequence: Count })),
  sse("ping", Schema.Struct({ serverTime: Schema.String })),
  sse("reset", Schema.Struct({ reason: Schema.String })),
]);

const liveQuery = { after: opt(Cursor) };
const threadParams = { threadId: Id };

export const SystemApi = HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health", {
    success: Schema.Struct({ status: Schema.Literals(["ok", "starting"]) }),
  }),
  HttpApiEndpoint.get("version", "/version", {
    success: Schema.Struct({ version: Schema.String, protocol: Count, minimalClient: Schema.String }),
  }),
);

export const ProjectsApi = HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/projects", {
      success: Schema.Struct({ projects: Schema.Array(ProjectView) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("create", "/projects", {
      headers: mutating,
      payload: Schema.Struct({ projectId: opt(Id), root: Schema.String, title: opt(Schema.String) }),
      success: Schema.Struct({ projectId: Id, receipt: Accepted }),
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
    HttpApiEndpoint.patch("update", "/projects/:projectId", {
      params: { projectId: Id },
      headers: mutating,
      payload: Schema.Struct({ title: Schema.String }),
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
    HttpApiEndpoint.delete("remove", "/projects/:projectId", {
      params: { projectId: Id },
      headers: mutating,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);

/** What may be changed of a thread; `archived` archives and unarchives. One field group a call is one command each. */
const PatchThread = Schema.Struct({
  title: opt(Schema.String),
  archived: opt(Schema.Boolean),
  ...omit(commandSchemas["thread.configure"].fields, envelope),
});

export const ThreadsApi = HttpApiGroup.make("threads")
  .add(
    HttpApiEndpoint.get("list", "/threads", {
      query: { projectId: opt(Id), archived: opt(Schema.Literals(["true", "false"])), ...page },
      success: Schema.Struct({ threads: Schema.Array(ThreadShell), before: opt(Cursor), sequence: Count }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("create", "/threads", {
      headers: mutating,
      payload: Schema.Struct(createThread),
      success: Schema.Struct({ threadId: Id, receipt: Accepted }),
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.get("get", "/threads/:threadId", {
      params: threadParams,
      query: { before: opt(Cursor), after: opt(Cursor), maxBytes: opt(Schema.NumberFromString) },
      success: ThreadPage,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.patch("update", "/threads/:threadId", {
      params: threadParams,
      headers: mutating,
      payload: PatchThread,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.delete("remove", "/threads/:threadId", {
      params: threadParams,
      headers: mutating,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.post("interrupt", "/threads/:threadId/interrupt", {
      params: threadParams,
      headers: mutating,
      payload: Schema.Struct({ turnId: opt(Id), inputId: opt(Id) }),
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.post("release", "/threads/:threadId/release", {
      params: threadParams,
      headers: mutating,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.post("resumeQueue", "/threads/:threadId/queue/resume", {
      params: threadParams,
      headers: mutating,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.post("read", "/threads/:threadId/read", {
      params: threadParams,
      headers: mutating,
      payload: Schema.Struct({ upTo: Count }),
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("turnDiff", "/threads/:threadId/turns/:turnId/diff", {
      params: { ...threadParams, turnId: Id },
      success: Schema.Struct({ turn: TurnView, unifiedDiff: Schema.String }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("itemOutput", "/threads/:threadId/items/:itemId/output", {
      params: { ...threadParams, itemId: Id },
      success: Schema.Struct({ itemId: Id, output: Schema.String, complete: Schema.Boolean }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("diagnostics", "/threads/:threadId/diagnostics", {
      params: threadParams,
      success: Schema.Struct({
        unknown: Schema.Record(Schema.String, Count),
        undecodable: Count,
        refused: Schema.Record(Schema.String, Count),
        recent: Schema.Array(
          Schema.Struct({ generation: Count, seq: Count, type: Schema.String, reason: Schema.String }),
        ),
        stalled: Schema.Array(Schema.String),
      }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("records", "/threads/:threadId/records", {
      params: threadParams,
      query: {
        after: opt(Cursor),
        limit: opt(Limit),
        generation: opt(Schema.NumberFromString.pipe(Schema.decodeTo(Generation))),
      },
      success: Schema.Struct({
        records: Schema.Array(
          Schema.Struct({
            generation: Count,
            seq: Count,
            kind: Schema.Literals(["frame", "call", "reply"]),
            dir: Schema.Literals(["in", "out"]),
            nativeKind: Schema.String,
            /** `null` once pruned. */
            frame: Schema.Unknown,
            events: Schema.Array(Schema.Unknown),
          }),
        ),
        next: Cursor,
        done: Schema.Boolean,
      }),
      error: readErrors,
    }).annotate(RequiredScope, "diagnose"),
  )
  .middleware(Authorization);

export const InputsApi = HttpApiGroup.make("inputs")
  .add(
    HttpApiEndpoint.get("list", "/threads/:threadId/inputs", {
      params: threadParams,
      success: Schema.Struct({ inputs: Schema.Array(InputView) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("submit", "/threads/:threadId/inputs", {
      params: threadParams,
      headers: mutating,
      payload: Schema.Struct({ ...inputFields, inputId: opt(Id) }),
      success: Schema.Struct({ inputId: Id, receipt: Accepted }),
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.patch("edit", "/threads/:threadId/inputs/:inputId", {
      params: { ...threadParams, inputId: Id },
      headers: mutating,
      /** `text` edits while queued; `state` resubmits or discards an unconfirmed or failed one. */
      payload: Schema.Struct({
        text: opt(inputFields.text),
        state: opt(Schema.Literals(["resubmit", "discard"])),
      }),
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
    HttpApiEndpoint.delete("withdraw", "/threads/:threadId/inputs/:inputId", {
      params: { ...threadParams, inputId: Id },
      headers: mutating,
      success: Accepted,
      error: writeErrors,
    }).annotate(RequiredScope, "operate"),
  )
  .middleware(Authorization);

export const RequestsApi = HttpApiGroup.make("requests")
  .add(
    HttpApiEndpoint.get("list", "/requests", {
      query: { state: opt(RequestState), threadId: opt(Id), after: opt(Cursor), limit: opt(Limit) },
      success: Schema.Struct({ requests: Schema.Array(RequestRow), next: opt(Cursor) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("answer", "/requests/:requestId/answer", {
      params: { requestId: Id },
      headers: mutating,
      payload: Schema.Struct({ threadId: opt(Id), answer: Answer, subjectHash: opt(Schema.String) }),
      success: Accepted,
      error: [...writeErrors, NotFound],
    }).annotate(RequiredScope, "answer"),
  )
  .middleware(Authorization);

const live = HttpApiSchema.StreamSse({ events: LiveFrame });

export const EventsApi = HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("page", "/threads/:threadId/events", {
      params: threadParams,
      query: { after: opt(Cursor), limit: opt(Limit) },
      success: EventPage,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("live", "/threads/:threadId/live", {
      params: threadParams,
      query: liveQuery,
      success: live,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("liveMany", "/live", {
      query: { threads: opt(Schema.String), ...liveQuery },
      success: live,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("replay", "/sessions/:threadId/replay", {
      params: threadParams,
      query: { after: opt(Cursor), limit: opt(Limit) },
      success: Schema.Array(PublicEvent),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("sessionLive", "/sessions/:threadId/live", {
      params: threadParams,
      query: liveQuery,
      success: live,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
  )
  .middleware(Authorization);

const InstanceView = Schema.Struct({
  ...omit(InstanceConfig.fields, ["env"]),
  /** Names only: values are secrets (I16). */
  env: Schema.Array(Schema.String),
  installation: Installation,
  observedAt: Schema.String,
});

export const InstancesApi = HttpApiGroup.make("instances")
  .add(
    HttpApiEndpoint.get("list", "/instances", {
      success: Schema.Struct({ instances: Schema.Array(InstanceView) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.get("get", "/instances/:instanceId", {
      params: { instanceId: Id },
      success: InstanceView,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
  )
  .middleware(Authorization);

export class Api extends HttpApi.make("tributary")
  .add(SystemApi, ProjectsApi, ThreadsApi, InputsApi, RequestsApi, EventsApi, InstancesApi)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tributary",
      description: "One durable, resumable backend for every coding agent.",
    }),
  ) {}
