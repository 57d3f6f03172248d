/** The API's document: what people and generators see of each operation. */
import { Context } from "effect";
import { HttpApi, OpenApi } from "effect/http-api";
import { assert, describe, it } from "vitest";
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
});
