import { describe, expect, it } from "vitest";
import { inputs } from "../src/queries/inputs.ts";
import { itemOutput, message, reasoning } from "../src/queries/items.ts";
import { project, projects } from "../src/queries/projects.ts";
import { requests, requestsById } from "../src/queries/requests.ts";
import { sessions } from "../src/queries/sessions.ts";
import { noExtras, shell, shells } from "../src/queries/shells.ts";
import { threadPage } from "../src/queries/thread-page.ts";
import { turn, turnDiff } from "../src/queries/turns.ts";
import { makeHarness } from "./harness.ts";
import { beginTurn, makeHistory, say, startActivity } from "./history.ts";
import { randomHistory, seeded } from "./random-history.ts";

/**
 * Every step of every query. What makes each bounded: a whole key; the pieces of one text; a range with LIMIT; rows that
 * are open; and for `n`, whose queries ask for a maximum, the last entry of an index prefix. Only the given ids (`k`) and the
 * projects are gone through. A query that changes this list has to show that its cost does not follow history.
 */
const bounded = [
  "SCAN k VIRTUAL TABLE INDEX 1:",
  "SCAN p_projects USING INDEX projects_list",
  "SEARCH a USING INDEX activities_changed (thread_id=? AND position=?)",
  "SEARCH a USING INDEX activities_open (thread_id=? AND position=?)",
  "SEARCH c USING INDEX sqlite_autoindex_p_activity_output_1 (thread_id=? AND activity_id=?)",
  "SEARCH c USING INDEX sqlite_autoindex_p_message_chunks_1 (thread_id=? AND message_id=?)",
  "SEARCH c USING INDEX sqlite_autoindex_p_reasoning_chunks_1 (thread_id=? AND reasoning_id=?)",
  "SEARCH d USING INDEX turns_changed (thread_id=? AND position=?)",
  "SEARCH i USING INDEX inputs_open (thread_id=?)",
  "SEARCH i USING INDEX sqlite_autoindex_p_inputs_1 (thread_id=? AND input_id=?)",
  "SEARCH m USING COVERING INDEX messages_streaming (thread_id=? AND position=?)",
  "SEARCH n USING COVERING INDEX activities_open (thread_id=?)",
  "SEARCH n USING COVERING INDEX messages_streaming (thread_id=?)",
  "SEARCH n USING COVERING INDEX reasoning_streaming (thread_id=?)",
  "SEARCH n USING COVERING INDEX timeline_spoken (thread_id=? AND position>?)",
  "SEARCH n USING COVERING INDEX turns_newest (thread_id=?)",
  "SEARCH n USING INDEX activities_changed (thread_id=?)",
  "SEARCH n USING INDEX turns_changed (thread_id=?)",
  "SEARCH p_activities USING COVERING INDEX activities_turn_changes (thread_id=? AND turn_id=?)",
  "SEARCH p_activities USING INDEX activities_item (thread_id=? AND item_id=?)",
  "SEARCH p_activities USING INDEX sqlite_autoindex_p_activities_1 (thread_id=? AND activity_id=?)",
  "SEARCH p_inputs USING INDEX inputs_open (thread_id=?)",
  "SEARCH p_inputs USING INDEX sqlite_autoindex_p_inputs_1 (thread_id=? AND input_id=?)",
  "SEARCH p_message_chunks USING INDEX sqlite_autoindex_p_message_chunks_1 (thread_id=? AND message_id=? AND offset<?)",
  "SEARCH p_plan_steps USING INDEX sqlite_autoindex_p_plan_steps_1 (thread_id=? AND agent_path=?)",
  "SEARCH p_projects USING INDEX sqlite_autoindex_p_projects_1 (project_id=?)",
  "SEARCH p_sessions USING INDEX sqlite_autoindex_p_sessions_1 (thread_id=?)",
  "SEARCH p_threads USING INDEX sqlite_autoindex_p_threads_1 (thread_id=?)",
  "SEARCH p_threads USING INDEX threads_list (archived=? AND updated_seq<?)",
  "SEARCH p_threads USING INDEX threads_project_list (project_id=? AND archived=? AND updated_seq<?)",
  "SEARCH p_timeline USING COVERING INDEX timeline_page (thread_id=? AND position<?)",
  "SEARCH p_timeline USING COVERING INDEX timeline_page (thread_id=? AND position>?)",
  "SEARCH p_timeline USING PRIMARY KEY (thread_id=? AND kind=? AND row_id=?)",
  "SEARCH p_turn_diffs USING INDEX sqlite_autoindex_p_turn_diffs_1 (thread_id=? AND turn_id=?)",
  "SEARCH r USING COVERING INDEX reasoning_streaming (thread_id=? AND position=?)",
  "SEARCH r USING INDEX requests_id (request_id=?)",
  "SEARCH r USING INDEX requests_state (state=? AND position>?)",
  "SEARCH r USING INDEX requests_thread_state (thread_id=? AND state=? AND position>?)",
  "SEARCH r USING INDEX requests_thread_state (thread_id=? AND state=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_activities_1 (thread_id=? AND activity_id=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_inputs_1 (thread_id=? AND input_id=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_notices_1 (thread_id=? AND notice_id=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_plans_1 (thread_id=? AND plan_id=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_requests_1 (thread_id=? AND request_id=?)",
  "SEARCH r USING INDEX sqlite_autoindex_p_tasks_1 (thread_id=? AND task_id=?)",
  "SEARCH r USING PRIMARY KEY (thread_id=? AND message_id=?)",
  "SEARCH r USING PRIMARY KEY (thread_id=? AND reasoning_id=?)",
  "SEARCH s USING COVERING INDEX timeline_spoken (thread_id=? AND position=?)",
  "SEARCH t EXISTS USING INDEX sqlite_autoindex_p_threads_1 (thread_id=?)",
  "SEARCH t USING COVERING INDEX tasks_running (thread_id=?)",
  "SEARCH t USING INDEX sqlite_autoindex_p_threads_1 (thread_id=?)",
  "SEARCH t USING INDEX sqlite_autoindex_p_turns_1 (thread_id=? AND turn_id=?)",
  "SEARCH t USING INDEX turns_newest (thread_id=? AND position=?)",
  "SEARCH u USING PRIMARY KEY (thread_id=?)",
];

describe("query plans", () => {
  it("of every page query are bounded, and sort nothing (I12)", async () => {
    const history = makeHistory();
    const ids = randomHistory(history, seeded(7), 3, 60);
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
        for (let before = 1; before < history.events.length; before += 150) {
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
    requestsById(reader, { requestId: "q1", limit: 10 });
    requestsById(reader, { requestId: "q1", threadId: ids[0] ?? "", limit: 10 });
    for (const archived of [true, false]) {
      shells(reader, { archived, limit: 10 }, noExtras);
      shells(reader, { archived, limit: 10, projectId: "P" }, noExtras);
    }
    projects(reader);
    project(reader, "P");

    // Explaining asks the same reader.
    const asked = Array.from(harness.queries);
    const steps = asked.flatMap((sql) =>
      reader.all(`EXPLAIN QUERY PLAN ${sql}`).map((step) => String(step["detail"]).replaceAll(/x\d+_/g, "")),
    );
    const searches = new Set(steps.filter((step) => /^(SEARCH|SCAN|USE)/.test(step)));
    expect([...searches].toSorted()).toEqual(bounded);
  });
});
