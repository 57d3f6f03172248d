/** A thread of thousands of events with live text, cut at every position: over server-sent events and over a WebSocket. */
import { assert, describe, it } from "@effect/vitest";
import {
  apply,
  committed,
  createClient,
  httpTransport,
  open,
  start,
  webSocketTransport,
  type Client,
  type Frame,
  type Page,
  type ThreadView,
  type Transport,
} from "@tributary/client";
import { Effect } from "effect";
import { addInstance } from "../support/agents.ts";
import { freshServer } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";
import { busy, equals, random, shown, wholePage } from "./busy.ts";

const threadId = "T";
const route = { method: "GET", path: "/threads/:threadId/live", live: true } as const;

const transports: Readonly<Record<string, (server: TestServer) => Transport>> = {
  "server-sent events": ({ url, token }) => httpTransport({ url, token }),
  "a WebSocket": ({ url, token }) => webSocketTransport({ url, token }),
};

const stream = (transport: Transport, after?: string) =>
  transport.stream({ name: "events.live", route, params: { threadId }, query: { after } });

/** All frames of a thread from its first event until `enough`. */
const record = async (transport: Transport, enough: (view: ThreadView) => boolean): Promise<ReadonlyArray<Frame>> => {
  const frames: Array<Frame> = [];
  let view = start(threadId);
  for await (const chunk of stream(transport)) {
    frames.push(...chunk);
    view = apply(view, chunk);
    if (enough(view)) return frames;
  }
  throw new Error("the stream ended");
};

interface Recorded {
  readonly server: TestServer;
  readonly client: Client;
  readonly frames: ReadonlyArray<Frame>;
  readonly page: Page;
  /** The view after so many frames. */
  readonly views: ReadonlyArray<ThreadView>;
}

/** A server with a thread that has gone through two turns while somebody watched. */
const recorded = Effect.gen(function* () {
  const server = yield* freshServer;
  yield* addInstance(server, "busy", busy(60, 2));
  return yield* Effect.promise(async (): Promise<Recorded> => {
    const client = createClient({ url: server.url, token: server.token });
    await client.threads.create({ payload: { threadId, cwd: server.work, instance: "busy" } });
    for (const text of ["first", "second"])
      await client.inputs.submit({ params: { threadId }, payload: { text, inputId: text } });
    const ended = (view: ThreadView) => view.turns.length === 2 && view.thread?.status.value === "idle";
    const frames = await record(transports["server-sent events"]!(server), ended);
    const views = [start(threadId)];
    for (const frame of frames) views.push(apply(views.at(-1) as ThreadView, frame));
    return { server, client, frames, page: await wholePage(client, threadId), views };
  });
});

/** What a server sends to whoever comes back: `synced`, and the open text of the moment, whole. */
const comeback = ({ state }: ThreadView): ReadonlyArray<Frame> => [
  { event: "synced", data: { sequence: state.sequence } },
  ...[...state.live.values()]
    .filter(({ text }) => text !== "")
    .map(({ frame, revision, offset, text }): Frame => ({ event: "live", data: { ...frame, revision, offset, text } })),
];

/** The same object, or of the same content: live text is put together anew. */
const isSameRow = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

describe("a thread cut at every position (I10)", () => {
  it.live("is the uninterrupted view and the server's own page (pains 18 and 19)", () =>
    Effect.gen(function* () {
      const { frames, page, views, client, server } = yield* recorded;
      const events = frames.filter(({ event }) => event === "event");
      assert.isAbove(events.length, 2000);
      assert.isAbove(frames.filter(({ event }) => event === "live").length, 10);
      const last = views.at(-1) as ThreadView;
      equals(last, page, "the uninterrupted view");

      // Every position: whoever is cut there and comes back sees what it saw. Every fifth: so does who takes a snapshot.
      for (const [position, view] of views.entries()) {
        if (view.thread === undefined) continue;
        const back = apply(view, comeback(view));
        assert.strictEqual(back.state.timeline, view.state.timeline);
        if (view.state.live.size > 0)
          assert.isTrue(
            view.rows.length === back.rows.length && view.rows.every((row, index) => isSameRow(row, back.rows[index])),
            `a row at ${position}`,
          );
        if (position % 5 !== 0) continue;
        const joined = open({ ...(committed(view) as Page), cursor: view.cursor ?? "" });
        assert.deepStrictEqual(joined.thread, view.thread, `the shell at ${position}`);
      }
      // A sample of positions to the end: from the cut view, and from a snapshot there; some frames come twice.
      const seed = 20_260_101;
      const next = random(seed);
      for (let count = 0; count < 12; count += 1) {
        const position = 2 + Math.floor(next() * (frames.length - 2));
        const view = views[position] as ThreadView;
        const rest = frames.slice(Math.max(0, position - 5));
        const again = apply(apply(view, comeback(view)), rest);
        assert.deepStrictEqual(shown(committed(again)), shown(committed(last)), `seed ${seed}, cut at ${position}`);
        if (view.thread === undefined) continue;
        const joined = apply(open(committed(view) as Page), rest);
        assert.deepStrictEqual(shown(committed(joined)), shown(committed(last)), `seed ${seed}, joined at ${position}`);
      }
      // The same by real connections.
      for (const [name, make] of Object.entries(transports)) {
        const transport = make(server);
        yield* Effect.promise(async () => {
          for (let count = 0; count < 20; count += 1) {
            const position = 2 + Math.floor(next() * (frames.length - 2));
            let view = views[position] as ThreadView;
            const missing = events.length - events.findLastIndex(({ id }) => id === view.cursor) - 1;
            let received = 0;
            // A kept connection may be one that the server has given up meanwhile.
            await client.system.health();
            for await (const chunk of stream(transport, view.cursor)) {
              received += chunk.filter(({ event }) => event === "event").length;
              view = apply(view, chunk);
              if (chunk.some(({ event }) => event === "synced")) break;
            }
            assert.strictEqual(received, missing, `${name}, seed ${seed}, ${position}`);
            equals(view, page, `${name}, seed ${seed}, cut at ${position}`);
          }
        });
        transport.close();
      }
      client.close();
    }),
  );
});
