import { describe, expect, it } from "@effect/vitest";

import { treeMembers } from "../../src/process/members.ts";
import type { MarkerReading, ProcessRow } from "../../src/process/table-row.ts";

const carried: MarkerReading = { state: "carried", marker: "m" };
const absent: MarkerReading = { state: "absent" };
const unreadable: MarkerReading = { state: "unreadable" };

/** A row; group and session are its own unless said. */
const row = (pid: number, ppid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ppid,
  pgid: pid,
  sid: pid,
  startTime: String(pid),
  zombie: false,
  command: "p",
  marker: absent,
  ...more,
});

const self = 10;
const host = [row(1, 0), row(5, 1), row(self, 5, { pgid: 5, sid: 5 })];
const root = { pid: 100, startTime: "100" };

const membersOf = (
  rows: ReadonlyArray<ProcessRow>,
  more: Partial<Parameters<typeof treeMembers>[1]> = {},
): ReadonlyArray<number> =>
  treeMembers([...host, ...rows], { known: [root], recentLeaders: new Set(), ...more }, self).map(({ pid }) => pid);

describe("treeMembers", () => {
  it("M1, M3: the root and its descendants, in whatever order the table lists them", () => {
    expect(membersOf([row(103, 102), row(102, 101), row(101, 100), row(100, self), row(200, self)])).toEqual([
      103, 102, 101, 100,
    ]);
  });

  it("M1: not a process that got the root's pid later, nor what it started", () => {
    expect(membersOf([row(100, 1, { startTime: "999" }), row(101, 100), row(102, 1, { pgid: 100 })])).toEqual([]);
    expect(membersOf([row(100, 1, { startTime: "" })], { known: [{ pid: 100, startTime: "" }] })).toEqual([]);
  });

  it("M2: whatever carries the marker, and its descendants", () => {
    const rows = [
      row(300, 1, { marker: carried }),
      row(301, 300),
      row(302, 1, { marker: { state: "carried", marker: "n" } }),
    ];
    expect(membersOf(rows, { marker: "m", known: [] })).toEqual([300, 301]);
    expect(membersOf(rows, { known: [] })).toEqual([]);
  });

  it("M4: orphans in a group or session that a member leads, a zombie leader included", () => {
    const rows = [
      row(100, self),
      row(110, 100, { zombie: true }),
      row(120, 1, { pgid: 110, sid: 99 }),
      row(121, 1, { pgid: 121, sid: 110 }),
      row(122, 1, { pgid: 98, sid: 99 }),
    ];
    expect(membersOf(rows)).toEqual([100, 110, 120, 121]);
  });

  it("M4: not the group of the host, even if a member stays in it", () => {
    expect(membersOf([row(100, self, { pgid: 5, sid: 5 }), row(201, 1, { pgid: 5, sid: 5 })])).toEqual([100]);
  });

  it("M5: orphans in the group of a leader that is just gone", () => {
    const orphan = row(120, 1, { pgid: 100, sid: 100 });
    expect(membersOf([orphan], { recentLeaders: new Set([100]) })).toEqual([120]);
    expect(membersOf([orphan, row(100, 1, { startTime: "999" })], { recentLeaders: new Set([100]) })).toEqual([]);
  });

  it("M6: of a leader that went long ago, only what hides its environment and is not older", () => {
    const member = { pgid: 100, sid: 100 };
    expect(membersOf([row(120, 1, { ...member, marker: unreadable })])).toEqual([120]);
    expect(membersOf([row(120, 1, { ...member, marker: absent })])).toEqual([]);
    expect(membersOf([row(90, 1, { ...member, marker: unreadable })])).toEqual([]);
  });

  it("never takes this process, what it runs inside, or init", () => {
    const inherited = [row(1, 0, { marker: carried }), row(5, 1, { marker: carried })];
    const rows = [...inherited, row(self, 5, { marker: carried, pgid: 5, sid: 5 }), row(400, 1, { marker: carried })];
    expect(treeMembers(rows, { marker: "m", known: [], recentLeaders: new Set() }, self).map(({ pid }) => pid)).toEqual(
      [400],
    );
  });

  it("leaves the host's own children alone when the host runs inside the tree", () => {
    const inside = [
      row(1, 0),
      row(100, 1, { marker: carried }),
      row(101, 100, { pgid: 100, marker: carried }),
      row(self, 101, { pgid: 100, marker: carried }),
      row(500, self, { pgid: 100, marker: carried }),
      row(501, 1, { marker: carried }),
    ];
    expect(
      treeMembers(inside, { marker: "m", known: [root], recentLeaders: new Set() }, self).map(({ pid }) => pid),
    ).toEqual([501]);
  });

  it("takes the host's own children when the host does not run inside the tree", () => {
    const asInit = [row(1, 0), row(100, 1), row(101, 1, { marker: carried })];
    expect(
      treeMembers(asInit, { marker: "m", known: [root], recentLeaders: new Set() }, 1).map(({ pid }) => pid),
    ).toEqual([100, 101]);
  });
});
