import { readFileSync } from "node:fs";
import { Api } from "@tributary/contracts/api";
import { assert, describe, it } from "vitest";
import { routesFile, routesModule } from "../scripts/routes.ts";
import { createClient } from "../src/index.ts";
import { routes } from "../src/routes.ts";

const groups: ReadonlyArray<{ readonly identifier: string; readonly endpoints: object }> = Object.values(Api.groups);

describe("the table of routes", () => {
  it("is what the contract says: `npm run routes -w @tributary/client` when this fails", () => {
    assert.strictEqual(readFileSync(routesFile, "utf8"), routesModule());
  });

  it("gives every endpoint of the contract a method of the client", () => {
    const client = createClient({ url: "http://localhost" }) as unknown as Record<string, Record<string, unknown>>;
    for (const { identifier, endpoints } of groups)
      for (const name of Object.keys(endpoints)) {
        assert.isFunction(client[identifier]?.[name], `${identifier}.${name}`);
        assert.isDefined(routes[identifier]?.[name]);
      }
  });
});
