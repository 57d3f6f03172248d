/** The HTTP API (design section 10). OpenAPI, the typed client and the server all come from this value. */
import { Context, Schema } from "effect";
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api";
import { commandSchemas, inputFields } from "../commands.ts";
import { Generation, Id } from "../ids.ts";
import { Count, opt } from "../json.ts";
import { Answer } from "../values.ts";
import * as views from "../views.ts";
import { Authorization, RequiredScope } from "./access.ts";
import type { AccessScope } from "./access.ts";
import { AttachmentsApi } from "./attachments.ts";
import { describeOperations } from "./described.ts";
import { AuditApi, ClaimsApi, CookieApi, DevicesApi, PairingsApi } from "./auth.ts";
import { InstancesApi } from "./instances.ts";
import { EventPage, LiveFrame, PublicEvent } from "./live.ts";
import { MaintenanceApi } from "./maintenance.ts";
import { Forbidden, NotFound } from "./problems.ts";
import { RpcApi } from "./rpc.ts";
import { Accepted, Cursor, Limit, mutating, omit, page, readErrors, threadParams, writeErrors } from "./shared.ts";
import { SettingsApi, SystemApi } from "./system.ts";

// Named here so that the OpenAPI document has each once.
const ThreadShell = views.ThreadShell.annotate({ identifier: "ThreadShell" });
const TimelineRow = views.TimelineRow.annotate({ identifier: "TimelineRow" });
const ThreadPage = Schema.Struct({
  ...views.ThreadPage.fields,
  rows: Schema.Array(TimelineRow),
  /** Follow the live stream from here: `?after=`. */
  cursor: Cursor,
}).annotate({ identifier: "ThreadPage" });
const ProjectView = views.ProjectView.annotate({ identifier: "Project" });
const InputView = views.InputView.annotate({ identifier: "Input" });
const RequestRow = views.RequestRow.annotate({ identifier: "Request" });
const TurnView = views.TurnView.annotate({ identifier: "Turn" });

const envelope = ["type", "commandId", "threadId"] as const;
const createThread = {
  ...omit(commandSchemas["thread.create"].fields, envelope),
  /** Client-made; absent: the server makes one. */
  threadId: opt(Id),
  /** The first input, atomic with the thread. */
  input: opt(Schema.Struct({ ...inputFields, inputId: opt(Id) })),
};
const liveQuery = { after: opt(Cursor) };

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
      success: Schema.Struct({
        threads: Schema.Array(ThreadShell),
        before: opt(Cursor),
        sequence: Count,
        /** Follow the live stream from here: `?after=`. */
        cursor: Cursor,
      }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("create", "/threads", {
      headers: mutating,
      payload: Schema.Struct(createThread),
      success: Schema.Struct({
        threadId: Id,
        /** Of the first input, where there was one. */
        inputId: opt(Id),
        receipt: Accepted,
      }),
      error: [...writeErrors, Forbidden],
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
      error: [...writeErrors, Forbidden],
    }).annotate(RequiredScope, "operate"),
    /** `purge=true`, for who may administer: what it said is erased at once and for good, also of one deleted before. */
    HttpApiEndpoint.delete("remove", "/threads/:threadId", {
      params: threadParams,
      headers: mutating,
      query: { purge: opt(Schema.Literals(["true", "false"])) },
      success: Accepted,
      error: [...writeErrors, Forbidden],
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
    /** The next session begins without what the agent remembers: the choice when `session_unavailable` is told. */
    HttpApiEndpoint.post("forget", "/threads/:threadId/forget", {
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
    /** One row whole: pages cut what is large. */
    HttpApiEndpoint.get("row", "/threads/:threadId/rows/:rowId", {
      params: { ...threadParams, rowId: Id },
      success: TimelineRow,
      error: readErrors,
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
          /** `events`: how many were refused together, where it is more than one. */
          Schema.Struct({
            generation: Count,
            seq: Count,
            type: Schema.String,
            reason: Schema.String,
            events: opt(Count),
          }),
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
            /** Milliseconds since the epoch; informational. */
            at: Count,
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
      query: { state: opt(views.RequestState), threadId: opt(Id), after: opt(Cursor), limit: opt(Limit) },
      success: Schema.Struct({ requests: Schema.Array(RequestRow), next: opt(Cursor) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("answer", "/requests/:requestId/answer", {
      params: { requestId: Id },
      headers: mutating,
      payload: Schema.Struct({ threadId: opt(Id), answer: Answer, subjectHash: opt(Schema.String) }),
      success: Accepted,
      error: [...writeErrors, NotFound, Forbidden],
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

export class Api extends HttpApi.make("tributary")
  .add(
    SystemApi,
    ProjectsApi,
    ThreadsApi,
    InputsApi,
    AttachmentsApi,
    RequestsApi,
    EventsApi,
    InstancesApi,
    SettingsApi,
    MaintenanceApi,
    DevicesApi,
    PairingsApi,
    ClaimsApi,
    CookieApi,
    AuditApi,
    RpcApi,
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Tributary",
      version: "0.1.0",
      description: "One durable, resumable backend for every coding agent.",
      transform: (document) => describeOperations(document, scopes()),
    }),
  ) {}

/** The scope of each operation, by its id in the document. */
const scopes = (): ReadonlyMap<string, AccessScope> => {
  const found = new Map<string, AccessScope>();
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint, mergedAnnotations }) => {
      const id = group.topLevel ? endpoint.identifier : `${group.identifier}.${endpoint.identifier}`;
      found.set(id, Context.get(mergedAnnotations, RequiredScope));
    },
  });
  return found;
};
