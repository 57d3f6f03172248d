/** Every endpoint of the contract. Written by `npm run routes -w @tributary/client`; a test fails when one is missing. */
import type { Route } from "./transport.ts";

// oxfmt-ignore
export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  system: {
    health: { method: "GET", path: "/health" },
    version: { method: "GET", path: "/version" },
  },
  projects: {
    list: { method: "GET", path: "/projects" },
    create: { method: "POST", path: "/projects", keyed: true },
    update: { method: "PATCH", path: "/projects/:projectId", keyed: true },
    remove: { method: "DELETE", path: "/projects/:projectId", keyed: true },
  },
  threads: {
    list: { method: "GET", path: "/threads" },
    create: { method: "POST", path: "/threads", keyed: true },
    get: { method: "GET", path: "/threads/:threadId" },
    update: { method: "PATCH", path: "/threads/:threadId", keyed: true },
    remove: { method: "DELETE", path: "/threads/:threadId", keyed: true },
    interrupt: { method: "POST", path: "/threads/:threadId/interrupt", keyed: true },
    release: { method: "POST", path: "/threads/:threadId/release", keyed: true },
    forget: { method: "POST", path: "/threads/:threadId/forget", keyed: true },
    resumeQueue: { method: "POST", path: "/threads/:threadId/queue/resume", keyed: true },
    read: { method: "POST", path: "/threads/:threadId/read", keyed: true },
    row: { method: "GET", path: "/threads/:threadId/rows/:rowId" },
    turnDiff: { method: "GET", path: "/threads/:threadId/turns/:turnId/diff" },
    itemOutput: { method: "GET", path: "/threads/:threadId/items/:itemId/output" },
    diagnostics: { method: "GET", path: "/threads/:threadId/diagnostics" },
    records: { method: "GET", path: "/threads/:threadId/records" },
  },
  inputs: {
    list: { method: "GET", path: "/threads/:threadId/inputs" },
    submit: { method: "POST", path: "/threads/:threadId/inputs", keyed: true },
    edit: { method: "PATCH", path: "/threads/:threadId/inputs/:inputId", keyed: true },
    withdraw: { method: "DELETE", path: "/threads/:threadId/inputs/:inputId", keyed: true },
  },
  attachments: {
    upload: { method: "POST", path: "/attachments", http: true },
    download: { method: "GET", path: "/attachments/:attachmentId", http: true },
    remove: { method: "DELETE", path: "/attachments/:attachmentId" },
  },
  requests: {
    list: { method: "GET", path: "/requests" },
    answer: { method: "POST", path: "/requests/:requestId/answer", keyed: true },
  },
  events: {
    page: { method: "GET", path: "/threads/:threadId/events" },
    live: { method: "GET", path: "/threads/:threadId/live", live: true },
    liveMany: { method: "GET", path: "/live", live: true },
    replay: { method: "GET", path: "/sessions/:threadId/replay" },
    sessionLive: { method: "GET", path: "/sessions/:threadId/live", live: true },
  },
  instances: {
    list: { method: "GET", path: "/instances" },
    create: { method: "POST", path: "/instances" },
    get: { method: "GET", path: "/instances/:instanceId" },
    update: { method: "PATCH", path: "/instances/:instanceId" },
    remove: { method: "DELETE", path: "/instances/:instanceId" },
  },
  settings: {
    limits: { method: "GET", path: "/limits" },
    metrics: { method: "GET", path: "/metrics" },
    settings: { method: "GET", path: "/settings" },
    changeSettings: { method: "PATCH", path: "/settings" },
  },
  maintenance: {
    rebuild: { method: "POST", path: "/maintenance/rebuild" },
    backup: { method: "POST", path: "/maintenance/backup" },
    check: { method: "GET", path: "/maintenance/check" },
    prune: { method: "POST", path: "/maintenance/prune" },
  },
  devices: {
    list: { method: "GET", path: "/devices" },
    revoke: { method: "DELETE", path: "/devices/:deviceId" },
  },
  pairings: {
    start: { method: "POST", path: "/pairings" },
    get: { method: "GET", path: "/pairings/:pairingId" },
    decide: { method: "POST", path: "/pairings/:pairingId/decision" },
  },
  claims: {
    claim: { method: "POST", path: "/pairings/claim", http: true },
    collect: { method: "POST", path: "/pairings/:pairingId/token", http: true },
  },
  cookie: {
    set: { method: "POST", path: "/auth/cookie", http: true },
    clear: { method: "DELETE", path: "/auth/cookie", http: true },
  },
  audit: {
    list: { method: "GET", path: "/audit" },
  },
  rpc: {
    ticket: { method: "POST", path: "/auth/ticket", http: true },
    connect: { method: "GET", path: "/rpc", http: true },
  },
};
