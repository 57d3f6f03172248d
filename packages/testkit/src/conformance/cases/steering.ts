/** Inputs that come while a turn runs: steered, queued, taken back. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { refusal } from "../client/client.ts";
import type { CaseGroup } from "../case.ts";
import { needs, needsServerProcess } from "../case.ts";

const needsSteer = needs(({ steer, approvals }) => steer && approvals, "steering, or no approvals to steer at");

export const steering: CaseGroup = {
  name: "inputs during a turn",
  cases: [
    {
      name: "steer in the middle of a turn",
      fast: true,
      skip: needsSteer,
      run: async (stage) => {
        const said = stage.prompts.steerable("echo steered > steered.txt");
        const thread = await stage.thread();
        const held = await thread.holdInRequest(said);
        const steered = await thread.say(said.steered, "steer");
        expect(steered.receipt.mode).toBe("steer");
        await thread.feed.next("input.handed_over", ({ inputId }) => inputId === steered.inputId);
        await thread.choose(held.request, "allow");
        expect(await thread.ended(held)).toMatchObject({ state: "completed" });
        const { payload } = await thread.feed.next("input.started", ({ inputId }) => inputId === steered.inputId);
        expect(payload).toMatchObject({ how: "folded", turnId: held.turnId });
        await thread.done(steered);
        expect(thread.feed.fold.said(held.turnId)).toBe(said.text);
        expect(thread.feed.fold.turns.begun).toBe(1);
        const { rows } = await thread.page();
        expect(rows.filter((row) => row.kind === "message" && row.role === "user")).toMatchObject([
          { rowId: held.inputId },
          { rowId: steered.inputId, text: said.steered },
        ]);
      },
    },
    {
      name: "steer after the end",
      run: async (stage) => {
        const thread = await stage.thread();
        await thread.run(stage.prompts.text);
        const expected = stage.facts.capabilities.steer ? "no_active_turn" : "unsupported";
        expect(await refusal(thread.say("too late", "steer"))).toBe(expected);
      },
    },
    {
      name: "queue of three",
      fast: true,
      run: async (stage) => {
        const { says } = stage.prompts;
        const thread = await stage.thread();
        const held = await thread.holdInText();
        const queued = [];
        for (const words of ["first", "second", "third"]) {
          const sent = await thread.say(says(words).prompt, "queue");
          expect(sent.receipt.mode).toBe("queue");
          queued.push(sent);
        }
        const [, second] = queued;
        await thread.client.edit(thread.id, second?.inputId ?? "", { text: says("edited").prompt });
        expect((await thread.page()).thread.queued).toBe(3);
        held.gate.release();
        expect(await thread.ended(held)).toMatchObject({ state: "completed" });
        const texts: Array<string> = [];
        for (const sent of queued) texts.push(thread.feed.fold.said((await thread.ended(sent)).turnId));
        expect(texts).toEqual(["first", "edited", "third"]);
        expect(thread.feed.all("turn.ended").map(({ payload }) => payload.state)).toEqual(Array(4).fill("completed"));
      },
    },
    {
      name: "withdraw",
      fast: true,
      run: async (stage) => {
        const { says } = stage.prompts;
        const thread = await stage.thread();
        const held = await thread.holdInText();
        const taken = await thread.say(says("never").prompt, "queue");
        const kept = await thread.say(says("kept").prompt, "queue");
        await thread.client.withdraw(thread.id, taken.inputId);
        await thread.feed.next("input.withdrawn", ({ inputId }) => inputId === taken.inputId);
        expect(await refusal(thread.client.withdraw(thread.id, taken.inputId))).toBe("not_queued");
        held.gate.release();
        expect(thread.feed.fold.said((await thread.ended(kept)).turnId)).toBe("kept");
        expect(await refusal(thread.client.withdraw(thread.id, kept.inputId))).toBe("not_queued");
        expect(thread.feed.all("input.handed_over").map(({ payload }) => payload.inputId)).toEqual([
          held.inputId,
          kept.inputId,
        ]);
      },
    },
    {
      name: "the same send twice is one",
      fast: true,
      run: async (stage) => {
        const { client, id, feed } = await stage.thread();
        const input = { inputId: randomUUID(), text: stage.prompts.text.prompt };
        const key = randomUUID();
        const receipts = await Promise.all([client.submit(id, input, key), client.submit(id, input, key)]);
        expect(receipts[0]).toEqual(receipts[1]);
        await feed.next("input.done", ({ inputId }) => inputId === input.inputId);
        expect(await client.submit(id, input, key), "when it is over").toEqual(receipts[0]);
        expect(await refusal(client.submit(id, { ...input, text: "other" }, key))).toBe("command_id_conflict");
        expect(await refusal(client.submit(id, input))).toBe("input_exists");
        expect(feed.all("input.queued")).toHaveLength(1);
        expect(feed.fold.turns.begun).toBe(1);
      },
    },
    {
      name: "several at once: each is taken once",
      run: async (stage) => {
        const thread = await stage.thread();
        await thread.run(stage.prompts.text);
        const words = ["one", "two", "three", "four"];
        const all = await Promise.all(words.map((word) => thread.say(stage.prompts.says(word).prompt)));
        for (const sent of all) await thread.done(sent);
        const ids = all.map(({ inputId }) => inputId).toSorted();
        const [first, ...handed] = thread.feed.all("input.handed_over").map(({ payload }) => payload.inputId);
        expect(handed.toSorted()).toEqual(ids);
        const ended = thread.feed.all("input.done").map(({ payload }) => payload.inputId);
        expect(ended.toSorted()).toEqual([first, ...ids].toSorted());
        for (const { payload } of thread.feed.all("turn.ended")) expect(payload.state).toBe("completed");
      },
    },
    {
      name: "queue across a server restart",
      skip: needsServerProcess,
      run: async (stage) => {
        const { says } = stage.prompts;
        const thread = await stage.thread();
        const held = await thread.holdInText();
        const queued = [];
        for (const words of ["first", "second"]) queued.push(await thread.say(says(words).prompt, "queue"));
        const repeated = { inputId: randomUUID(), text: says("third").prompt, delivery: "queue" as const };
        const receipt = await thread.client.submit(thread.id, repeated, repeated.inputId);
        await stage.restart("stop");
        // As a phone does that never heard the answer.
        expect(await thread.client.submit(thread.id, repeated, repeated.inputId)).toEqual(receipt);
        queued.push({ inputId: repeated.inputId, receipt });
        expect(await thread.ended(held)).toMatchObject({ state: "interrupted" });
        expect(thread.feed.fold.said(held.turnId)).toBe(held.said.before);
        expect((await thread.page()).thread).toMatchObject({ queued: 3, queueHeld: "interrupted" });
        await thread.client.resumeQueue(thread.id);
        const texts: Array<string> = [];
        for (const sent of queued) texts.push(thread.feed.fold.said((await thread.ended(sent)).turnId));
        expect(texts).toEqual(["first", "second", "third"]);
      },
    },
  ],
};
