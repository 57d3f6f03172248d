import { event } from "@tributary/contracts";
import type { DomainEvent, ProjectCommand } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { decideProject, evolveProject } from "../src/index.ts";
import type { DecideContext, ProjectState } from "../src/index.ts";
import { now, person } from "./facts.ts";

const created = event("project.created", { root: "/real/app", title: "app" });
const deleted = event("project.deleted", {});
const root = { path: "/real/app", exists: true };

const given = (...events: ReadonlyArray<DomainEvent>) => {
  const state = events.reduce<ProjectState | undefined>((before, next) => evolveProject(before, next, "P"), undefined);
  return {
    when: (command: ProjectCommand, context: Partial<DecideContext> = {}) =>
      decideProject(state, command, { now, actor: person, ...context }),
  };
};
const base = { commandId: "c", projectId: "P" };
const create = { type: "project.create", ...base, root: "/app" } as const;
const update = { type: "project.update", ...base, title: "App" } as const;
const remove = { type: "project.delete", ...base } as const;
const code = (expected: string) => ({ ok: false, rejection: { code: expected } });

describe("projects", () => {
  it("are registered under their real root, named after it", () => {
    expect(given().when(create, { root })).toStrictEqual({ ok: true, events: [created] });
    expect(given().when({ ...create, title: "Mine" }, { root })).toMatchObject({
      events: [{ payload: { title: "Mine" } }],
    });
    expect(given().when(create, { root: { path: "/", exists: true } })).toMatchObject({
      events: [{ payload: { title: "/" } }],
    });
  });

  it("need a folder that is there and not taken", () => {
    expect(given().when(create, { root: { path: "/app", exists: false } })).toMatchObject(code("cwd_missing"));
    expect(given().when(create)).toMatchObject(code("cwd_missing"));
    expect(given().when(create, { root: { ...root, takenBy: "Q" } })).toMatchObject(code("project_exists"));
    expect(given(created).when(create, { root })).toMatchObject(code("project_exists"));
    expect(given(created, deleted).when(create, { root })).toMatchObject(code("project_exists"));
  });

  it("are renamed once", () => {
    const updated = event("project.updated", { title: "App" });
    expect(given(created).when(update)).toStrictEqual({ ok: true, events: [updated] });
    expect(given(created, updated).when(update)).toStrictEqual({ ok: true, events: [] });
  });

  it("are deleted when no thread lives in them", () => {
    expect(given(created).when(remove, { threads: 2 })).toMatchObject(code("project_in_use"));
    expect(given(created).when(remove, { threads: 0 })).toStrictEqual({ ok: true, events: [deleted] });
  });

  it("that are not there change in nothing", () => {
    for (const command of [update, remove]) {
      expect(given().when(command)).toMatchObject(code("project_not_found"));
      expect(given(created, deleted).when(command)).toMatchObject(code("project_not_found"));
    }
  });

  it("count every event, known or not (I18)", () => {
    const unknown = { type: "project.starred", payload: {} } as unknown as DomainEvent;
    const before = evolveProject(undefined, created, "P");
    expect(evolveProject(before, unknown, "P")).toStrictEqual({ ...before, version: 2 });
    expect(() => evolveProject(undefined, deleted, "P")).toThrow(/begins with project.deleted/);
  });
});
