/** The table of routes from the contract: `node scripts/routes.ts` writes it, a test fails when it is not what would be written. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Api } from "@tributary/contracts/api";
import { httpOnly } from "@tributary/contracts/rpc";

interface Described {
  readonly method: string;
  readonly path: string;
  readonly headers: object | undefined;
  readonly success: ReadonlySet<object>;
}

const groups = Object.values(Api.groups) as unknown as ReadonlyArray<{
  readonly identifier: string;
  readonly endpoints: Readonly<Record<string, Described>>;
}>;

const isKeyed = ({ headers }: Described): boolean => {
  if (headers === undefined) return false;
  const struct = "schema" in headers ? (headers.schema as object) : headers;
  return "fields" in struct && Object.hasOwn(struct.fields as object, "idempotency-key");
};

const isLive = ({ success }: Described): boolean =>
  [...success].some((schema) => "_tag" in schema && schema._tag === "StreamSse");

const route = (endpoint: Described, tag: string): string => {
  const { method, path } = endpoint;
  const flags = [
    ...(isKeyed(endpoint) ? [", keyed: true"] : []),
    ...(isLive(endpoint) ? [", live: true"] : []),
    ...(Object.hasOwn(httpOnly, tag) ? [", http: true"] : []),
  ].join("");
  return `{ method: ${JSON.stringify(method)}, path: ${JSON.stringify(path)}${flags} }`;
};

/** The table as its module's text, before formatting. */
export const routesModule = (): string => {
  const body = groups.map(
    ({ identifier, endpoints }) =>
      `  ${identifier}: {\n${Object.entries(endpoints)
        .map(([name, endpoint]) => `    ${name}: ${route(endpoint, `${identifier}.${name}`)},\n`)
        .join("")}  },\n`,
  );
  return [
    "/** Every endpoint of the contract. Written by `npm run routes -w @tributary/client`; a test fails when one is missing. */\n",
    'import type { Route } from "./transport.ts";\n\n',
    "// oxfmt-ignore\n",
    "export const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {\n",
    ...body,
    "};\n",
  ].join("");
};

export const routesFile = fileURLToPath(new URL("../src/routes.ts", import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(routesFile, routesModule());
