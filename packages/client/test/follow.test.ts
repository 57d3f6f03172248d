import { assert, describe, it } from "vitest";
import {
  apply,
  committed,
  start,
  TributaryError,
  type FollowedThread,
  type Page,
  type ThreadView,
} from "../src/index.ts";
import { pause } from "../src/retry.ts";
import { against, json, stream, type Asked } from "./handler.ts";
import { live, running, textStart, threadId } from "./support.ts";

const log = running();
const page = (): Page => ({
  ...(committed(apply(start(threadId), log.frames)) as Page),
  cursor: `e:x.${log.sequence()}`,
});
const synced = { event: "synced", id: `e:x.${log.sequence()}`, data: { serverTime: "", sequence: log.sequence() } };

const isLive = ({ path }: Asked): boolean => path.startsWith("/threads/T/live");

/** Reads views until one is enough. */
const until = async (thread: FollowedThread, enough: (view: ThreadView) => boolean): Promise<ThreadView> => {
  for await (const view of thread) if (enough(view)) return view;
  return assert.fail("the following ended");
};

const text = (view: ThreadView): string =>
  view.rows.map((row) => (row.kind === "message" && row.role === "assistant" ? row.text : "")).join("");

describe("following a thread", () => {
  it("goes on from the cursor of the newest event after each break (pain 19)", async () => {
    const pieces = ["Hel", "lo ", "you"];
    const frames = pieces.map((piece, index) =>
      log.add("message.appended", {
        messageId: "t//a#0",
        offset: index * 3,
        text: piece,
        ...(index === 0 ? { start: textStart() } : {}),
      }),
    );
    const snapshot = page();
    const empty = { ...snapshot, rows: snapshot.rows.slice(0, 1), sequence: 5, cursor: "e:x.5" };
    let streams = 0;
    const { client, asked } = against((one) => {
      if (!isLive(one)) return json(empty);
      const frame = frames[streams];
      streams += 1;
      return frame === undefined
        ? stream([synced])
        : stream([frame as { event: string; id: string; data: unknown }], true);
    });
    const thread = client.follow("T");
    const view = await until(thread, () => thread.connection.state === "live");
    assert.strictEqual(text(view), "Hello you");
    const cursors = asked.filter(isLive).map(({ path }) => new URLSearchParams(path.split("?")[1]).get("after"));
    assert.deepStrictEqual(cursors, ["e:x.5", ...frames.map(({ id }) => id ?? null)]);
    assert.lengthOf(
      asked.filter(({ path }) => path === "/threads/T"),
      1,
    );
  });

  it("takes a new snapshot when the cursor can't be served", async () => {
    let streams = 0;
    const { client, asked } = against((one) => {
      if (!isLive(one)) return json(page());
      streams += 1;
      return streams === 1 ? stream([{ event: "reset", data: { reason: "another log" } }], true) : stream([synced]);
    });
    const thread = client.follow("T");
    await until(thread, () => thread.connection.state === "live");
    assert.deepStrictEqual(
      asked.map((one) => (isLive(one) ? "live" : "snapshot")),
      ["snapshot", "live", "snapshot", "live"],
    );
  });

  it("takes silence for death, and not a reader that takes its time (pain 18)", async () => {
    let streams = 0;
    const { client } = against(
      (one) => {
        if (!isLive(one)) return json(page());
        streams += 1;
        return streams < 3 ? stream([]) : stream([synced, { event: "ping", data: {} }]);
      },
      { silenceMs: 250 },
    );
    const thread = client.follow("T");
    const errors: Array<string> = [];
    for await (const _ of thread) {
      if (thread.connection.state === "waiting") errors.push(thread.connection.error.code);
      if (thread.connection.state === "live") break;
    }
    assert.deepStrictEqual(errors, ["silent", "silent"]);
    assert.strictEqual(streams, 3);
  });

  it("fails where waiting does not help, and goes on where it does", async () => {
    let tries = 0;
    const { client } = against(() => {
      tries += 1;
      return tries === 1
        ? json({ code: "unavailable", detail: "starting", userAction: "wait" }, 503)
        : json({ code: "unauthorized", detail: "The token is not valid", userAction: "login" }, 401);
    });
    let caught: unknown;
    await until(client.follow("T"), () => false).catch((error: unknown) => {
      caught = error;
    });
    assert.instanceOf(caught, TributaryError);
    assert.deepInclude(caught, { code: "unauthorized", userAction: "login", status: 401 });
  });

  it("gives a slow reader the newest view, and ends with its signal", async () => {
    const abort = new AbortController();
    const many = Array.from({ length: 50 }, (_, index) => live({ offset: index, text: "x", after: 0 }));
    const { client } = against((one) => (isLive(one) ? stream([synced, ...many]) : json(page())));
    const thread = client.follow("T", { signal: abort.signal });
    let views = 0;
    for await (const view of thread) {
      views += 1;
      await pause(5);
      if (view.rows.length > 0 && thread.connection.state === "live") abort.abort();
    }
    assert.isBelow(views, 10);
    assert.strictEqual(thread.connection.state, "closed");
  });

  it("sends an input, shows it at once, and keeps a refused one for another try under the same key", async () => {
    let tries = 0;
    const { client, asked } = against((one) => {
      if (isLive(one)) return stream([synced]);
      if (one.method === "GET") return json(page());
      tries += 1;
      return tries === 1
        ? json({ code: "busy", detail: "A turn runs.", userAction: "wait", commandId: "c", resend: "safe" }, 409)
        : json({ inputId: "n", receipt: { status: "accepted", commandId: "c", sequence: 1000 } });
    });
    const thread = client.follow("T");
    await until(thread, () => thread.connection.state === "live");
    const sending = thread.submit({ text: "next", inputId: "n" });
    assert.deepInclude(thread.view?.inputs.at(-1), { id: "n", local: { state: "sending" } });
    let caught: unknown;
    await sending.catch((error: unknown) => {
      caught = error;
    });
    assert.deepInclude(caught, { code: "busy" });
    assert.strictEqual(thread.view?.inputs.at(-1)?.local?.state, "refused");
    assert.deepStrictEqual(await thread.resend("n"), { inputId: "n", sequence: 1000 });
    assert.lengthOf(new Set(asked.flatMap(({ key }) => key ?? [])), 1);
  });

  it("marks as read, and shows that it did", async () => {
    const { client, asked } = against((one) => {
      if (isLive(one)) return stream([synced]);
      return json(one.method === "GET" ? page() : { status: "accepted", commandId: "c", sequence: 1 });
    });
    const thread = client.follow("T");
    const view = await until(thread, () => thread.connection.state === "live");
    assert.strictEqual(view.thread?.readTo, 0);
    await thread.markRead();
    assert.strictEqual(thread.view?.thread?.readTo, view.thread?.lastPosition);
    assert.deepInclude(asked.at(-1), { path: "/threads/T/read", body: { upTo: view.thread?.lastPosition } });
  });

  it("loads older rows once, however often it is asked, and says when there are no more", async () => {
    const whole = page();
    const { client, asked } = against((one) => {
      if (isLive(one)) return stream([synced]);
      return json(
        one.path.includes("before=older")
          ? { ...whole, rows: whole.rows.slice(0, 1) }
          : { ...whole, rows: whole.rows.slice(1), before: "older" },
      );
    });
    const thread = client.follow("T");
    await until(thread, () => thread.connection.state === "live");
    assert.deepStrictEqual(await Promise.all([thread.older(), thread.older()]), [false, false]);
    assert.deepStrictEqual(thread.view?.rows, whole.rows);
    assert.lengthOf(
      asked.filter(({ path }) => path.includes("before=older")),
      1,
    );
    assert.isFalse(await thread.older());
  });
});
