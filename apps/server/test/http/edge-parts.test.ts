import { isDomainEventType } from "@tributary/contracts";
import { cookieName, CursorProblem } from "@tributary/contracts/api";
import { Headers, HttpServerResponse } from "effect/http";
import { assert, describe, it } from "vitest";
import { refusal } from "../../src/http/allowlist.ts";
import { eventCursor, pageAfter, readEventCursor, readRecordCursor, recordCursor } from "../../src/http/cursor.ts";
import { sharedBytes } from "../../src/http/docs.ts";
import { knownIn } from "../../src/http/edge.ts";
import { toPublic, toPublicText } from "../../src/http/public-events.ts";
import { methodsOf } from "../../src/http/route-table.ts";
import { owner } from "../../src/http/Tokens.ts";

describe("cursors", () => {
  const log = { epoch: "ab.1", head: 10 };

  it("of the event log say where to go on", () => {
    assert.deepStrictEqual(readEventCursor(eventCursor("ab.1", 7), log), { kind: "at", sequence: 7 });
    assert.deepStrictEqual(readEventCursor("e:7", log), { kind: "at", sequence: 7 });
    assert.strictEqual(pageAfter(undefined, log), 0);
  });

  it("of another log or beyond the end can't be served", () => {
    for (const cursor of [eventCursor("cd", 7), eventCursor("ab.1", 11)]) {
      assert.strictEqual(readEventCursor(cursor, log).kind, "unservable");
      assert.throws(() => pageAfter(cursor, log), CursorProblem);
    }
  });

  it("of a journal are refused by the event log, and the other way round", () => {
    assert.throws(() => readEventCursor(recordCursor("ab.1", 1, 2), log), CursorProblem, "r:");
    assert.throws(() => readRecordCursor(eventCursor("ab.1", 2), "ab.1"), CursorProblem, "e:");
    assert.deepStrictEqual(readRecordCursor(recordCursor("ab.1", 3, 9), "ab.1"), { generation: 3, seq: 9 });
    assert.deepStrictEqual(readRecordCursor(undefined, "ab.1"), { generation: 1, seq: 0 });
  });

  it.each(["", "7", "e:", "e:x", "e:-1", "e:1.5.x", "e:99999999999999999", "E:1", "e:1 "])("%j is none", (cursor) => {
    assert.throws(() => readEventCursor(cursor, log), CursorProblem);
  });

  it.each(["", "r:", "r:ab", "r:ab.1.1.2", "r:ab.0.2", "r:ab.1", "r:cd.1.2"])("%j is none of a journal", (cursor) => {
    assert.throws(() => readRecordCursor(cursor, "ab"), CursorProblem);
  });
});

describe("a large document that needs no token", () => {
  it("is the same bytes for everybody, so that readers that stand still hold none of their own (I11)", () => {
    const made = HttpServerResponse.text("é", { contentType: "text/html", headers: { "x-a": "b" } });
    const { body, headers, status } = sharedBytes(made);
    assert.deepInclude(headers, { "content-type": "text/html", "x-a": "b" });
    assert.strictEqual(status, 200);
    assert.strictEqual(body._tag, "Uint8Array");
    if (body._tag !== "Uint8Array") return;
    // What has a text is sent as one, and becomes bytes once more in each connection.
    assert.isUndefined(body.text);
    assert.strictEqual(body.body, body.body);
    assert.strictEqual(new TextDecoder().decode(body.body), "é");
  });
});

describe("who a request comes from", () => {
  const tokens = {
    verify: (token: string) => (token === "right" ? owner : undefined),
    checkCookie: (value: string) => (value === "right" ? { holder: owner } : ({ refused: "unknown" } as const)),
  };
  const of = (authorization: string | undefined, cookie?: string) =>
    knownIn(
      {
        headers: Headers.fromInput(authorization === undefined ? {} : { authorization }),
        cookies: cookie === undefined ? {} : { [cookieName]: cookie },
      },
      tokens,
    );

  it("is told by a right token or cookie", () => {
    assert.deepStrictEqual([of("Bearer right"), of("bearer right"), of(undefined, "right")], Array(3).fill("owner"));
  });

  it("is not known otherwise: it is counted by its address, and may say little", () => {
    const strangers = [
      of(undefined),
      of("Bearer wrong"),
      of("Basic right"),
      of(undefined, "wrong"),
      of("Bearer wrong", "right"),
      of("Basic x", "right"),
    ];
    assert.deepStrictEqual(strangers, Array(6).fill(undefined));
  });
});

describe("who may call", () => {
  const allowed = { port: 4417, hosts: ["tunnel.example", "My-Laptop.local"], origins: ["https://app.example"] };

  it.each([
    { host: "127.0.0.1:4417" },
    { host: "LOCALHOST:4417" },
    { host: "[::1]:4417" },
    { host: "tunnel.example" },
    { host: "tunnel.example:8443" },
    { host: "my-laptop.local:4417" },
    { host: "localhost:4417", origin: "http://localhost:4417" },
    { host: "localhost:4417", origin: "https://app.example" },
    { host: "localhost:4417", site: "same-origin" },
    { host: "localhost:4417", site: "none" },
  ])("%j", (sent) => {
    assert.isUndefined(refusal(sent, allowed));
  });

  it.each([
    {},
    { host: "" },
    { host: "localhost" },
    { host: "localhost:4418" },
    { host: "evil.example:4417" },
    { host: "127.0.0.1.evil.example:4417" },
    { host: "localhost:4417:1" },
    { host: "evil@localhost:4417" },
    { host: "localhost:4417", origin: "https://evil.example" },
    { host: "localhost:4417", origin: "null" },
    { host: "localhost:4417", origin: "http://localhost:4418" },
    { host: "localhost:4417", origin: "https://app.example.evil" },
    { host: "localhost:4417", site: "cross-site" },
    { host: "localhost:4417", site: "same-site" },
  ])("not %j", (sent) => {
    assert.strictEqual(refusal(sent, allowed)?.status, 403);
  });
});

describe("public events", () => {
  const envelope = {
    sequence: 3,
    streamId: "T",
    version: 1,
    eventId: "x",
    schemaVersion: 1,
    occurredAt: "2026-01-01T00:00:00.000Z",
    causationId: null,
    actor: { kind: "system", id: "engine" },
  } as const;

  it("carry a cursor, and nothing of the envelope that is internal", () => {
    const event = toPublic({ ...envelope, type: "input.discarded", payload: { inputId: "i" } }, "ep");
    assert.deepStrictEqual(event, {
      cursor: "e:ep.3",
      sequence: 3,
      streamId: "T",
      type: "input.discarded",
      occurredAt: "2026-01-01T00:00:00.000Z",
      payload: { inputId: "i" },
    });
  });

  it("leave out what finds our processes again", () => {
    const event = toPublic({ ...envelope, type: "session.opening", payload: { generation: 1, marker: "m" } }, "ep");
    assert.deepStrictEqual(event?.payload, { generation: 1 });
  });

  it.each([
    ["thread.renamed", { title: "a “title” with \u2028, \u0000 and half of \ud83d", by: "client" }],
    ["session.opening", { generation: 1, marker: "m" }],
    ["turn.diff_updated", { turnId: "t", blob: "b", size: 9 }],
    ["later.invented", {}],
  ])("as text are the same: %s", (type, payload) => {
    const event = { ...envelope, streamId: 'a "thread"', type };
    const text = toPublicText({ ...event, payload: JSON.stringify(payload) }, "ep");
    const shown = toPublic({ ...event, payload }, "ep");
    assert.deepStrictEqual(text === undefined ? undefined : JSON.parse(text), shown);
  });

  it("are none for a type that this build does not know", () => {
    assert.isFalse(isDomainEventType("later.invented"));
    assert.isUndefined(toPublic({ ...envelope, type: "later.invented", payload: {} }, "ep"));
  });
});

describe("methods of a path", () => {
  it.each([
    ["/threads", ["GET", "POST"]],
    ["/threads/a%2Fb", ["DELETE", "GET", "PATCH"]],
    ["/requests/r/answer", ["POST"]],
    ["/openapi.json", ["GET"]],
    ["/threads/a/b/c/d", []],
    ["/", []],
  ])("%s: %j", (path, methods) => {
    assert.deepStrictEqual([...methodsOf(path)].toSorted(), methods);
  });
});
