import { describe, expect, it } from "vitest";
import { inputs } from "../src/queries/inputs.ts";
import { itemOutput, message, reasoning } from "../src/queries/items.ts";
import { project, projects } from "../src/queries/projects.ts";
import { requests } from "../src/queries/requests.ts";
import { sessions } from "../src/queries/sessions.ts";
import { noExtras, shell, shells } from "../src/queries/shells.ts";
import { threadPage } from "../src/queries/thread-page.ts";
import { turn, turnDiff } from "../src/queries/turns.ts";
import { makeHarness } from "./harness.ts";
import { beginTurn, makeHistory, say, startActivity } from "./history.ts";
import { randomHistory, seeded } from "./random-history.ts";

describe("query plans", () => {
  it("of every page query search an index, and sort nothing (I12)", async () => {
    const history = makeHistory();
    const ids = randomHistory(history, seeded(7), 4, 120);
    const harness = await makeHarness();
    for (const id of ids) {
      beginTurn(history, id, `last-${id}`, `last-${id}`, "x".repeat(3000));
      say(history, id, `last-${id}`, "m", ["y".repeat(3000)], false);
      startActivity(history, id, `last-${id}`, "c");
      history.add(id, "reasoning.appended", {
        reasoningId: `r-${id}`,
        kind: "full",
        offset: 0,
        text: "z".repeat(3000),
        start: { turnId: `last-${id}`, agentPath: [], itemId: "r", segment: 0, generation: 1 },
      });
    }
    await harness.apply(history.events);
    const { reader } = harness;

    for (const threadId of ids) {
      shell(reader, threadId, noExtras);
      // Small and large ones: texts are read whole and cut.
      for (const maxBytes of [1000, 100_000])
        for (let before = 1; before < history.events.length; before += 50) {
          threadPage(reader, { threadId, from: { before }, maxBytes }, noExtras);
          threadPage(reader, { threadId, from: { after: before }, maxBytes }, noExtras);
        }
      threadPage(reader, { threadId }, noExtras);
      inputs(reader, threadId);
      turn(reader, threadId, "t1");
      turnDiff(reader, threadId, "t1");
      itemOutput(reader, threadId, "c");
      message(reader, threadId, `last-${threadId}`);
      reasoning(reader, threadId, `r-${threadId}`);
      sessions(reader, threadId, 5);
      requests(reader, { state: "answered", threadId, limit: 10 });
    }
    requests(reader, { state: "pending", limit: 10 });
    for (const archived of [true, false]) {
      shells(reader, { archived, limit: 10 }, noExtras);
      shells(reader, { archived, limit: 10, projectId: "P" }, noExtras);
    }
    projects(reader);
    project(reader, "P");

    expect(harness.queries.size).toBeGreaterThan(30);
    // Explaining asks the same reader.
    const asked = Array.from(harness.queries);
    for (const sql of asked) {
      const steps = reader.all(`EXPLAIN QUERY PLAN ${sql}`).map((step) => String(step["detail"]));
      for (const step of steps) {
        // The ids that a query is given are the only list that is gone through; projects are listed whole.
        const given = step.startsWith("SCAN k VIRTUAL TABLE") || /^SCAN \S*projects USING INDEX/.test(step);
        expect(step.startsWith("SCAN") && !given, `${sql}\n${steps.join("\n")}`).toBe(false);
        expect(step.includes("TEMP B-TREE"), `${sql}\n${steps.join("\n")}`).toBe(false);
      }
    }
  });
});
