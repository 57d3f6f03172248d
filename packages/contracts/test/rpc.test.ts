import { Context, Schema } from "effect";
import { describe, expect, it } from "vitest";
import { Api, Authorization, RequiredScope } from "../src/api/index.ts";
import { ClientMessage, httpOnly, Open, TributaryRpcs } from "../src/rpc/index.ts";

const endpoints = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map((endpoint) => ({ tag: `${group.identifier}.${endpoint.identifier}`, endpoint })),
);
const rpcs: ReadonlyMap<string, { readonly annotations: Context.Context<never> }> = TributaryRpcs.requests;

describe("the RPC group", () => {
  it("has an rpc for each endpoint, or says why not", () => {
    const missing = endpoints.filter(({ tag }) => !rpcs.has(tag)).map(({ tag }) => tag);
    expect(missing.toSorted()).toEqual(Object.keys(httpOnly).toSorted());
    expect(rpcs.size).toBe(endpoints.length - missing.length);
  });

  it("asks for the same scope, and for none where HTTP does not", () => {
    for (const { tag, endpoint } of endpoints) {
      const rpc = rpcs.get(tag);
      if (rpc === undefined) continue;
      expect([tag, Context.get(rpc.annotations, RequiredScope)]).toEqual([
        tag,
        Context.get(endpoint.annotations, RequiredScope),
      ]);
      const middlewares: ReadonlySet<unknown> = endpoint.middlewares;
      expect([tag, Context.get(rpc.annotations, Open)]).toEqual([tag, !middlewares.has(Authorization)]);
    }
  });

  it("has none whose body or answer is bytes", () => {
    const isBytes = (schema: object) => "_tag" in schema && schema._tag === "StreamUint8Array";
    const binary = endpoints.filter(({ endpoint: { payload, success } }) => {
      const bodies: ReadonlyArray<object> = [...[...payload.values()].flatMap(({ schemas }) => schemas), ...success];
      return bodies.some(isBytes);
    });
    expect(binary.map(({ tag }) => tag)).toEqual(["attachments.upload", "attachments.download"]);
    expect(binary.filter(({ tag }) => rpcs.has(tag))).toEqual([]);
  });
});

describe("messages of clients", () => {
  const takes = Schema.is(ClientMessage);

  it("are those of effect's protocol, with what else stands in them", () => {
    for (const message of [
      { _tag: "Request", id: 1, tag: "a.b", payload: {}, headers: [], traceId: "t" },
      { _tag: "Request", id: "1", tag: "", payload: null },
      { _tag: "Ack", requestId: "1" },
      { _tag: "Interrupt", requestId: 0 },
      { _tag: "Ping" },
      { _tag: "Eof" },
    ])
      expect([message, takes(message)]).toEqual([message, true]);
    for (const message of [
      undefined,
      null,
      1,
      "Ping",
      {},
      { _tag: "Exit" },
      { _tag: "Ack" },
      { _tag: "Request", id: 1.5 },
    ])
      expect([message, takes(message)]).toEqual([message, false]);
  });
});
