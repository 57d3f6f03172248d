/** The API's document: what people and generators see of each operation. */
import { Context, Schema } from "effect";
import { HttpApi, OpenApi } from "effect/http-api";
import { assert, describe, it } from "vitest";
import { operationExamples } from "../src/api/described.ts";
import { Api, RequiredScope } from "../src/api/index.ts";

// oxlint-disable-next-line typescript/no-explicit-any
const operations: ReadonlyArray<any> = Object.values(OpenApi.fromApi(Api).paths).flatMap((path) => Object.values(path));

describe("the API's document", () => {
  it("says of each operation what it does, in words of its own", () => {
    assert.isAbove(operations.length, 50);
    for (const { operationId, summary } of operations) assert.isString(summary, operationId);
    assert.lengthOf(new Set(operations.map(({ summary }) => summary)), operations.length);
  });

  it("says what scope each asks for, and which need no token", () => {
    const told = new Map(operations.map((operation) => [operation.operationId, operation]));
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ group, endpoint, mergedAnnotations }) => {
        const id = group.topLevel ? endpoint.identifier : `${group.identifier}.${endpoint.identifier}`;
        const { security, description, ...rest } = told.get(id);
        const scope = security.length === 0 ? undefined : Context.get(mergedAnnotations, RequiredScope);
        assert.strictEqual(rest["x-scope"], scope, id);
        assert.include(description, scope === undefined ? "Needs no token." : `Scope: \`${scope}\`.`, id);
      },
    });
    const open = operations.filter(({ security }) => security.length === 0).map(({ operationId }) => operationId);
    assert.sameMembers(open, ["health", "version", "claims.claim", "claims.collect", "rpc.connect"]);
  });

  it("shows an example of what is sent and answered, here or in the schema", () => {
    const { components } = OpenApi.fromApi(Api);
    const hasExample = (schema: unknown): boolean => {
      const text = JSON.stringify(schema ?? {});
      const named = [...text.matchAll(/#\/components\/schemas\/([^"]+)/g)].map(
        ([, name = ""]) => components.schemas[name],
      );
      return text.includes('"example') || named.some((each) => JSON.stringify(each).includes('"example'));
    };
    const lacking = operations.flatMap(({ operationId, requestBody, responses }) => {
      const answer = Object.entries<{ readonly content?: object }>(responses).find(([status]) =>
        status.startsWith("2"),
      )?.[1];
      const parts = [requestBody?.content?.["application/json"], answer?.content];
      // Bytes need none.
      const isShown = (part: unknown) =>
        part === undefined || hasExample(part) || JSON.stringify(part).includes("binary");
      return parts.flatMap((part, at) => (isShown(part) ? [] : [`${operationId} ${at}`]));
    });
    assert.deepStrictEqual(lacking, []);
  });

  it("has examples that its own schemas take", () => {
    const seen = new Set<string>();
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ group, endpoint }) => {
        const id = group.topLevel ? endpoint.identifier : `${group.identifier}.${endpoint.identifier}`;
        const example = operationExamples[id];
        if (example === undefined) return;
        seen.add(id);
        const [payload] = [...endpoint.payload.values()].flatMap(({ schemas }): ReadonlyArray<Schema.Top> => schemas);
        const read = (schema: Schema.Top | undefined, value: unknown, what: string) => {
          assert.isDefined(schema, `${id} has no ${what}`);
          // The schemas of endpoints need no services.
          const codec = Schema.toCodecJson(schema ?? Schema.Never) as unknown as Schema.Codec<unknown>;
          assert.doesNotThrow(
            () => Schema.decodeUnknownSync(codec, { onExcessProperty: "error" })(value),
            undefined,
            `${id}, ${what}`,
          );
        };
        if (example.request !== undefined) read(payload, example.request, "request");
        if (example.response !== undefined) read([...endpoint.success][0], example.response, "response");
      },
    });
    assert.sameMembers([...seen], Object.keys(operationExamples));
  });
});
