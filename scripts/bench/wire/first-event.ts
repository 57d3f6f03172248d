import type { TestServer } from "@tributary/server/test-support";
import { median, percentile, scaled, type BenchContext } from "../harness.ts";
import { expectOk, served } from "./served.ts";

const threadId = "T";
const script = { name: "brief", otherwise: [{ do: "text", text: "Yes." }] };

/** Follows a thread and tells, by the clock, when an event of a type came. */
export const follow = async ({ url, token }: TestServer, cursor: string) => {
  const controller = new AbortController();
  const response = await fetch(`${url}/threads/${threadId}/live?after=${cursor}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  const waiting = new Map<string, (at: number) => void>();
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const at = performance.now();
      text += chunk;
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const type = /"type":"([\w.]+)"/.exec(frame)?.[1] ?? "";
        waiting.get(type)?.(at);
        waiting.delete(type);
      }
    }
  };
  const reading = read().catch(() => undefined);
  return {
    next: (type: string) =>
      new Promise<number>((resolve) => {
        waiting.set(type, resolve);
      }),
    close: async () => {
      controller.abort();
      await reading;
    },
  };
};

/** A prompt until its client has an event of the turn, in a session that is open; one after the other. */
export const firstEvent = async ({ scale, report }: BenchContext, folder: string): Promise<void> => {
  for (const durability of ["full", "normal"] as const) {
    const prompts = scaled(200, scale, 10);
    const { accepted, began } = await served(folder, durability, async (server) => {
      const { call } = server;
      await expectOk(call("/instances", { body: { id: "brief", runtime: "scripted", options: { script } } }));
      await expectOk(call("/threads", { body: { threadId, cwd: server.work, instance: "brief" } }));
      const stream = await follow(server, (await expectOk(call(`/threads/${threadId}`))).cursor);
      const accepted: Array<number> = [];
      const began: Array<number> = [];
      for (let n = 0; n <= prompts; n += 1) {
        const started = stream.next("turn.started");
        const ended = stream.next("turn.ended");
        const sent = performance.now();
        await expectOk(call(`/threads/${threadId}/inputs`, { body: { text: "Is it?" } }));
        const taken = performance.now();
        const first = await started;
        await ended;
        // The first opens the session.
        if (n === 0) continue;
        accepted.push(taken - sent);
        began.push(first - taken);
      }
      await stream.close();
      return { accepted, began };
    });
    const name = durability.toUpperCase();
    report(
      { what: `prompt sent → accepted, ${name}, p50`, value: median(accepted), unit: "ms" },
      {
        what: `prompt accepted → first event of its turn at a client, ${name}, p50`,
        value: median(began),
        unit: "ms",
        spread: [Math.min(...began), Math.max(...began)],
        budget: { atMost: durability === "full" ? 5 : 2 },
      },
      { what: `… p99`, value: percentile(began, 0.99), unit: "ms" },
    );
  }
};
