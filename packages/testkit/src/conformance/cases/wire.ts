/** Cursors lose nothing, and secrets go nowhere. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { CaseGroup } from "../case.ts";
import { needs, needsApprovals } from "../case.ts";
import { Feed } from "../client/feed.ts";
import type { Thread } from "../world/thread.ts";
import { allArguments } from "../world/processes.ts";
import { canaryVariable } from "../world/world.ts";

const everyFile = (dir: string): ReadonlyArray<string> =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Nothing that the server says of the thread or keeps has the secret; what the person wrote themselves is their file. */
const expectNowhere = async ({ world, driver, client, feed, id }: Thread, secret: string): Promise<void> => {
  const told = [feed.events, feed.lives, await client.page(id), await client.records(id)];
  expect(JSON.stringify(told).includes(secret), "answers of the API").toBe(false);
  expect(driver.urls().filter((url) => url.includes(secret))).toEqual([]);
  expect(world.log.includes(secret), "the server's log").toBe(false);
  const files = everyFile(world.data).filter((path) => path !== join(world.data, "config.json"));
  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([]);
};

/** Connects, reads one more event at least, cuts; until it is told to stop. */
const cutAgainAndAgain = async (feed: Feed, { client }: Thread, over: AbortSignal): Promise<void> => {
  const stopped = once(over, "abort");
  while (!over.aborted) {
    const seen = feed.events.length;
    await feed.connect(client);
    const more = feed.until("another event", () => (feed.events.length > seen ? true : undefined));
    // What is not waited for any more may fail.
    more.catch(() => {});
    await Promise.race([more, stopped]);
    await feed.cut();
  }
};

export const wire: CaseGroup = {
  name: "the wire",
  cases: [
    {
      name: "a stream that is cut and resumed loses nothing",
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const thread = await stage.thread();
        const other = new Feed(thread.id);
        // Cut wherever it happens to be, again and again, while the turns run.
        const over = new AbortController();
        const cutting = cutAgainAndAgain(other, thread, over.signal);
        await thread.run(stage.prompts.reasoning);
        await thread.runAsking(stage.prompts.shell("echo wire > wire.txt"), "allow");
        const last = await thread.run(stage.prompts.text);
        over.abort();
        await cutting;
        await other.connect(thread.client);
        const done = ({ inputId }: { readonly inputId: string }): boolean => inputId === last.inputId;
        const { sequence } = await thread.feed.next("input.done", done);
        await other.next("input.done", done);
        await other.cut();
        const upTo = (feed: Feed) => feed.events.filter((event) => event.sequence <= sequence);
        expect(upTo(other)).toEqual(upTo(thread.feed));

        const { client, id } = thread;
        const all = (await client.events(id)).filter((event) => event.sequence <= sequence);
        expect(all.map(({ cursor, sequence: at, type }) => ({ cursor, at, type }))).toEqual(
          upTo(thread.feed).map(({ cursor, sequence: at, type }) => ({ cursor, at, type })),
        );
        expect((await client.replay(id)).filter((event) => event.sequence <= sequence)).toEqual(all);
        // From each of several points, what follows is the rest.
        for (const cut of [1, Math.floor(all.length / 3), Math.floor(all.length / 2), all.length - 1]) {
          const rest = (await client.events(id, all[cut - 1]?.cursor)).filter((event) => event.sequence <= sequence);
          expect(rest).toEqual(all.slice(cut));
        }
      },
    },
    {
      name: "a page in the middle of a turn, and the events after it, are the whole",
      run: async (stage) => {
        const thread = await stage.thread();
        const held = await thread.holdInText();
        const page = await thread.page();
        const text = page.rows
          .filter((row) => row.kind === "message" && row.role === "assistant")
          .map((row) => (row.kind === "message" ? row.text : ""))
          .join("");
        held.gate.release();
        await thread.ended(held);
        const later = thread.feed
          .all("message.appended")
          .filter(({ sequence }) => sequence > page.sequence)
          .map(({ payload }) => payload.text);
        expect(text + later.join("")).toBe(held.said.text);
        expect((await thread.client.events(thread.id, page.cursor))[0]?.sequence).toBeGreaterThan(page.sequence);
      },
    },
    {
      name: "secrets are nowhere",
      process: true,
      fast: true,
      skip: needsApprovals,
      run: async (stage) => {
        const { world, driver, prompts } = stage;
        const thread = await stage.thread();
        // The agent itself says it aloud, and so does its shell.
        const sent = await thread.say(prompts.shell(`echo "it is $${canaryVariable}" > told.txt; cat told.txt`).prompt);
        await thread.choose(await thread.request(), "allow");
        expect(allArguments().filter((one) => one.includes(world.canary))).toEqual([]);
        await thread.ended(sent);
        expect(readFileSync(join(thread.cwd, "told.txt"), "utf8"), "the agent has it").toContain(world.canary);
        expect(JSON.stringify(await thread.client.instance(driver.instances.main.id))).not.toContain(world.canary);
        await expectNowhere(thread, world.canary);
      },
    },
    {
      name: "secrets of an MCP server are nowhere",
      process: true,
      skip: needs(({ mcp }) => mcp.stdio, "MCP servers over stdio"),
      run: async (stage) => {
        const secret = `canary-${randomUUID()}`;
        // It ends at once: what matters is that it was configured.
        const server = { name: "gone", transport: "stdio", command: "true", args: [], env: { GONE_KEY: secret } };
        const thread = await stage.thread({ mcpServers: [server] });
        const sent = await thread.say(stage.prompts.text.prompt);
        await thread.feed.next("session.started");
        expect(allArguments().filter((one) => one.includes(secret))).toEqual([]);
        expect((await thread.ended(sent)).state).toBe("completed");
        await expectNowhere(thread, secret);
      },
    },
  ],
};
