import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), "utf8"));

test("package-lock.json knows every package.json: run npm install and commit it when this fails", () => {
  const lock = read("package-lock.json") as { readonly packages: Readonly<Record<string, Dependencies>> };
  const places = Object.keys(lock.packages).filter((place) => !place.startsWith("node_modules/"));
  expect(places.length).toBeGreaterThan(1);

  const declared = ({ dependencies = {}, devDependencies = {} }: Dependencies) => ({ dependencies, devDependencies });
  for (const place of places) {
    const manifest = read(place === "" ? "package.json" : `${place}/package.json`) as Dependencies;
    expect({ place, ...declared(lock.packages[place] ?? {}) }).toEqual({ place, ...declared(manifest) });
  }
});
