/** Which methods a path takes: for telling 405 from 404. */
import { Api } from "@tributary/contracts/api";

interface Route {
  readonly method: string;
  readonly path: string;
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[a-zA-Z]+/g, "[^/]+")}$`);

const documents: ReadonlyArray<Route> = [
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/docs" },
];

const groups: ReadonlyArray<{ readonly endpoints: Readonly<Record<string, Route>> }> = Object.values(Api.groups);
const table = [...groups.flatMap(({ endpoints }) => Object.values(endpoints)), ...documents].map(
  ({ method, path }) => ({
    method,
    pattern: patternOf(path),
  }),
);

/** The methods of a path (without query), empty for an unknown one. */
export const methodsOf = (path: string): ReadonlyArray<string> => [
  ...new Set(table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
];
