import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { violationsOf } from "./rules.ts";
import { folders } from "./table.ts";
import { placeOf, readTree, sourcesOf } from "./tree.ts";
import { describeViolation } from "./violation.ts";

const tree = readTree(fileURLToPath(new URL("../..", import.meta.url)));

test("every import and every package.json obeys the dependency table", () => {
  expect(violationsOf(tree).map(describeViolation)).toEqual([]);
});

test("the table covers every package of the repository, and every package has sources that were read", () => {
  const packages = [...tree.keys()].flatMap(
    (path) => /^((?:packages|apps)\/[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
  );
  expect(packages.toSorted()).toEqual(folders.map(({ path }) => path).toSorted());

  const read = new Set(sourcesOf(tree).map(([path]) => placeOf(path).folder?.path));
  expect(folders.filter(({ path }) => !read.has(path))).toEqual([]);
});
