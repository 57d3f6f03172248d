/** The agent waits for a person: approvals and questions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { refusal } from "../client/client.ts";
import type { CaseGroup } from "../case.ts";
import { needs, needsApprovals } from "../case.ts";
import { optionOf } from "../world/thread.ts";

export const requests: CaseGroup = {
  name: "requests",
  cases: [
    {
      name: "allow",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInRequest(stage.prompts.shell("echo allowed > allowed.txt"));
        const { requestId, kind, subjectHash } = held.request.payload;
        expect(kind).toBe("approval");
        expect((await thread.page()).thread).toMatchObject({
          status: { value: "needs_you" },
          pendingRequests: [{ id: requestId, kind: "approval" }],
        });
        expect(await thread.requestsIn("pending")).toMatchObject([{ requestId, state: "pending", subjectHash }]);
        await thread.choose(held.request, "allow");
        const { payload } = await thread.feed.next("request.answered", (answered) => answered.requestId === requestId);
        expect(payload).toMatchObject({ delivery: "confirmed", by: { kind: "client" } });
        expect(await thread.ended(held)).toMatchObject({ state: "completed" });
        expect(thread.feed.fold.said(held.turnId)).toBe(held.said.text);
        expect(readFileSync(join(thread.cwd, "allowed.txt"), "utf8")).toBe("allowed\n");
      },
    },
    {
      name: "reject",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const said = stage.prompts.shell("echo rejected > rejected.txt");
        const thread = await stage.thread();
        const turn = await thread.runAsking(said, "reject");
        expect(["completed", "interrupted"]).toContain(turn.end.state);
        if (turn.end.state === "completed") expect(turn.text).toBe(said.rejected);
        expect(existsSync(join(thread.cwd, "rejected.txt"))).toBe(false);
        expect(thread.feed.all("activity.ended").map(({ payload }) => payload.status)).not.toContain("completed");
      },
    },
    {
      name: "allow for the session: the same is not asked again",
      skip: needsApprovals,
      run: async (stage) => {
        // No redirection: some programs ask for the file that it names each time.
        const command = "touch session.txt";
        const thread = await stage.thread();
        await thread.runAsking(stage.prompts.shell(command), "allow", "session");
        const again = stage.prompts.shellAgain(command);
        const turn = await thread.run(again);
        expect(turn.end.state).toBe("completed");
        expect(turn.text).toBe(again.text);
        expect(thread.feed.all("request.opened")).toHaveLength(1);
      },
    },
    {
      name: "cancel: the turn is over",
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInRequest();
        // Where no option cancels, stopping the turn is what does.
        if (optionOf(held.request, "cancel", "once") === undefined) await thread.client.interrupt(thread.id);
        else await thread.choose(held.request, "cancel");
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        expect(existsSync(join(thread.cwd, "asked.txt"))).toBe(false);
        expect((await thread.run(stage.prompts.text)).text).toBe(stage.prompts.text.text);
      },
    },
    {
      name: "an answer that comes too late, or again",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInRequest();
        const { request } = held;
        expect(await refusal(thread.answer(request, { optionId: "no such option" }))).toBe("invalid_answer");
        const [one, two] = await Promise.allSettled([
          thread.choose(request, "allow"),
          thread.choose(request, "reject"),
        ]);
        expect([one.status, two.status].toSorted(), "one of two answers at once").toEqual(["fulfilled", "rejected"]);
        await thread.ended(held);
        expect(await refusal(thread.choose(request, "allow"))).toBe("already_answered");
        expect(thread.feed.all("request.answering")).toHaveLength(1);
        expect(thread.feed.all("request.answered")).toHaveLength(1);
      },
    },
    {
      name: "file change, with its diff",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const file = "notes.txt";
        const thread = await stage.thread();
        for (const said of [stage.prompts.write(file), stage.prompts.edit(file)]) {
          const turn = await thread.runAsking(said, "allow");
          expect(turn.end.state).toBe("completed");
          expect(turn.text).toBe(said.text);
          const { action, subject } = turn.request.payload;
          expect(action).toBe("file_change");
          const [change, ...others] = subject?.changes ?? [];
          expect(others).toEqual([]);
          expect(change?.path.endsWith(file)).toBe(true);
          for (const line of said.diff) expect(change?.diff?.split("\n")).toContain(line);
          expect(readFileSync(join(thread.cwd, file), "utf8")).toBe(said.content);
        }
      },
    },
    {
      name: "full access asks nobody",
      skip: needsApprovals,
      run: async (stage) => {
        const said = stage.prompts.shell("echo free > free.txt");
        const thread = await stage.thread({ approvalMode: "full_access" });
        const turn = await thread.run(said);
        expect(turn.end.state).toBe("completed");
        expect(turn.text).toBe(said.text);
        expect(readFileSync(join(thread.cwd, "free.txt"), "utf8")).toBe("free\n");
        for (const { payload } of thread.feed.all("request.answered")) expect(payload.by?.kind).toBe("system");
      },
    },
    {
      name: "accepted edits: a file change asks nobody, a command does",
      skip: needsApprovals,
      run: async (stage) => {
        const file = "notes.txt";
        const thread = await stage.thread({ approvalMode: "accept_edits" });
        expect((await thread.run(stage.prompts.write(file))).end.state).toBe("completed");
        for (const { payload } of thread.feed.all("request.answered")) expect(payload.by?.kind).toBe("system");
        expect(readFileSync(join(thread.cwd, file), "utf8")).toBe(stage.prompts.write(file).content);
        // A folder outside of the thread's: no program takes that for an edit.
        const elsewhere = join(stage.world.makeFolder("elsewhere"), "asked.txt");
        const turn = await thread.runAsking(stage.prompts.shell(`echo asked > ${elsewhere}`), "reject");
        expect(turn.request.payload.action).not.toBe("file_change");
        expect(existsSync(elsewhere)).toBe(false);
      },
    },
    {
      name: "question",
      fast: true,
      skip: needs(({ userInput }) => userInput, "user input"),
      run: async (stage) => {
        const { prompt, choice, says, interactionMode } = stage.prompts.question;
        const thread = await stage.thread(interactionMode === undefined ? {} : { interactionMode });
        const from = thread.feed.events.length;
        const sent = await thread.say(prompt);
        const request = await thread.request(from);
        const [question, ...others] = request.payload.questions ?? [];
        expect(others).toEqual([]);
        expect(request.payload.kind).toBe("user_input");
        expect(question?.options.map(({ label }) => label)).toContain(choice);
        expect(await refusal(thread.answer(request, { answers: {} }))).toBe("invalid_answer");
        await thread.answer(request, { answers: { [question?.id ?? ""]: choice } });
        const end = await thread.ended(sent);
        expect(end.state).toBe("completed");
        expect(thread.feed.fold.said(end.turnId)).toContain(says);
      },
    },
  ],
};
