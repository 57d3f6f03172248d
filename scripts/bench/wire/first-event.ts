import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median, percentile, scaled, type BenchContext } from "../harness.ts";
import { inScratch } from "../runs.ts";

const launcher = fileURLToPath(new URL("../../../apps/server/bin/tributary.mjs", import.meta.url));
const threadId = "T";
const script = { name: "brief", otherwise: [{ do: "text", text: "Yes." }] };

interface Server {
  readonly url: string;
  readonly token: string;
}

/** A server in a process of its own, as clients have it; they are here. */
const withServer = <A>(parent: string, durability: string, use: (server: Server, work: string) => Promise<A>) =>
  inScratch(parent, async (base) => {
    const [data, work] = [join(base, "data"), join(base, "work")];
    mkdirSync(data, { mode: 0o700 });
    mkdirSync(work);
    const instances = [{ id: "brief", runtime: "scripted", options: { script } }];
    writeFileSync(join(data, "config.json"), JSON.stringify({ instances, settings: { durability } }), { mode: 0o600 });
    const child = spawn(process.execPath, [launcher, "serve", "--port", "0", "--json", "--data", data], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { url } = JSON.parse(line) as { readonly url: string };
      return await use({ url, token: readFileSync(join(data, "token"), "utf8").trim() }, work);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

const call = async ({ url, token }: Server, path: string, body?: object) => {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Readonly<Record<string, string>>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
};

/** Follows the thread and tells, by the clock, when the next event of a type came. */
const follow = async ({ url, token }: Server, cursor: string) => {
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

/** Prompts that are not counted: the first opens the session, the others warm up. */
const first = 50;

/** A prompt until its client has the first event of its turn, in a session that is open; one after the other. */
export const firstEvent = async ({ scale, report }: BenchContext, folder: string): Promise<void> => {
  for (const durability of ["full", "normal"] as const) {
    const prompts = scaled(500, scale, 20);
    const { accepted, began } = await withServer(folder, durability, async (server, work) => {
      await call(server, "/projects", { projectId: "P", root: work });
      await call(server, "/threads", { threadId, cwd: work, instance: "brief" });
      const { cursor } = await call(server, `/threads/${threadId}`);
      const stream = await follow(server, cursor ?? "");
      const accepted: Array<number> = [];
      const began: Array<number> = [];
      for (let n = 0; n < first + prompts; n += 1) {
        const started = stream.next("turn.started");
        const ended = stream.next("turn.ended");
        const sent = performance.now();
        await call(server, `/threads/${threadId}/inputs`, { text: "Is it?" });
        const taken = performance.now();
        const came = await started;
        await ended;
        if (n < first) continue;
        accepted.push(taken - sent);
        began.push(came - taken);
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
        budget: { atMost: durability === "full" ? 5 : 2 },
      },
      { what: "… p99", value: percentile(began, 0.99), unit: "ms" },
    );
  }
};
