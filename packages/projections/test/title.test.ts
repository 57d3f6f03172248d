import { describe, expect, it } from "vitest";
import { requestsById } from "../src/queries/requests.ts";
import { noExtras, shell } from "../src/queries/shells.ts";
import { scenarioState } from "../src/scenario-state.ts";
import { promptTitle } from "../src/title.ts";
import { makeHarness } from "./harness.ts";
import { makeHistory, root, type History } from "./history.ts";

const pair = "\u{1f600}";

describe("the title that a prompt gives", () => {
  it.each<[string, string | undefined]>([
    ["Fix the tests", "Fix the tests"],
    ["\n\n  Fix\tthe   tests \nthen tell me", "Fix the tests"],
    ["one\u2028two", "one"],
    ["x".repeat(80), "x".repeat(80)],
    ["x".repeat(81), `${"x".repeat(79)}…`],
    // A pair that would be split is left out.
    [`${"x".repeat(78)}${pair}${pair}`, `${"x".repeat(78)}…`],
    ["word ".repeat(100_000), `${"word ".repeat(15)}word…`],
    ["", undefined],
    [" \n\t ", undefined],
  ])("%j", (text, title) => {
    expect(promptTitle(text)).toBe(title);
    expect((promptTitle(text) ?? "").length).toBeLessThanOrEqual(80);
  });
});

const queued = (history: History, inputId: string, text: string) =>
  history.add("T", "input.queued", {
    inputId,
    text,
    delivery: "auto",
    mode: "prompt",
    origin: { kind: "user" },
  });

const titleAfter = async (build: (history: History) => void) => {
  const history = makeHistory();
  build(history);
  const harness = await makeHarness();
  await harness.apply(history.events);
  const { title, titleFrom } = shell(harness.reader, "T", noExtras) ?? {};
  return { title, titleFrom, scenario: scenarioState(harness.reader).threads[0] };
};

describe("a thread's title", () => {
  it("is the first prompt's while nobody has named it; later prompts change nothing", async () => {
    const { title, titleFrom, scenario } = await titleAfter((history) => {
      history.thread("T");
      queued(history, "a", "  \n ");
      queued(history, "b", "Fix the tests\nplease");
      queued(history, "c", "And now this");
    });
    expect({ title, titleFrom }).toEqual({ title: "Fix the tests", titleFrom: "prompt" });
    // Scenario files show what was given.
    expect(scenario).not.toHaveProperty("title");
    expect(scenario).not.toHaveProperty("titleFrom");
  });

  it("that somebody gave counts, before and after", async () => {
    const created = await titleAfter((history) => {
      history.thread("T", { title: "work" });
      queued(history, "a", "Fix the tests");
    });
    expect(created).toMatchObject({ title: "work", titleFrom: undefined, scenario: { title: "work" } });
    const renamed = await titleAfter((history) => {
      history.thread("T");
      queued(history, "a", "Fix the tests");
      history.add("T", "thread.renamed", { title: "work", by: "client" });
    });
    expect(renamed).toMatchObject({ title: "work", titleFrom: undefined });
  });
});

describe("requests by their id alone", () => {
  it("are found whatever became of them, in every thread that is there", async () => {
    const history = makeHistory();
    for (const threadId of ["A", "B", "C"]) {
      history.thread(threadId);
      for (const requestId of ["q", `only-${threadId}`])
        history.add(threadId, "request.opened", {
          requestId,
          turnId: "t1",
          agentPath: root,
          generation: 1,
          subjectHash: "h",
          kind: "approval",
        });
    }
    history.add("A", "request.expired", { requestId: "only-A", reason: "host_restart" });
    history.add("B", "request.expired", { requestId: "q", reason: "host_restart" });
    history.add("C", "thread.deleted", {});
    const harness = await makeHarness();
    await harness.apply(history.events);
    const found = (requestId: string, inThread?: string) =>
      requestsById(harness.reader, {
        requestId,
        limit: 10,
        ...(inThread === undefined ? {} : { threadId: inThread }),
      }).map(({ threadId, state }) => `${threadId} ${state}`);
    // Those that wait, though others are newer.
    expect(found("q")).toEqual(["A pending"]);
    expect(found("q", "B")).toEqual(["B expired"]);
    expect(found("q", "C")).toEqual([]);
    expect(found("only-A")).toEqual(["A expired"]);
    expect(found("only-C")).toEqual([]);
    expect(found("none")).toEqual([]);
  });
});
