import { isDeepStrictEqual } from "node:util";
import type { Findings } from "../findings.ts";
import { inCopy, withFolders } from "../folders.ts";
import { get, pause, post, startServer, type Call } from "../server.ts";

const devices = 8;
const threads = 8;

/** Two devices that answer one request at once; eight that send one command at once. */
export const races = (findings: Findings, times: number): Promise<void> =>
  withFolders("races", async ({ data, work }) => {
    const server = await startServer(data, work);
    await post(server.call, "/projects", { root: work });
    await post(server.call, "/instances", { id: "asking", runtime: "scripted", options: { script: asking } });
    const each = Math.ceil(times / threads);
    const wins = await Promise.all(
      Array.from({ length: threads }, (_, index) => answerRaces(findings, server.call, `race-${index}`, work, each)),
    );
    const allowed = wins.reduce((sum, one) => sum + one, 0);
    findings.figure("races of two devices for one answer", each * threads);
    findings.figure("  won by “allow” / “reject”", `${allowed} / ${each * threads - allowed}`);

    for (let n = 0; n < times; n += threads) {
      const keys = Array.from({ length: Math.min(threads, times - n) }, (_, index) => `same-${n + index}`);
      await Promise.all(keys.map((key) => sameCommand(findings, server.call, key, work)));
    }
    await server.stop();
    inCopy(data, (main) => {
      const found = main
        .prepare(
          "SELECT command_id AS id, count(*) AS n FROM events WHERE command_id LIKE 'same-%' GROUP BY command_id",
        )
        .all();
      findings.expect(found.length === times, `of ${times} commands ${found.length} are in the log (I1)`);
      for (const { id, n } of found) findings.expect(n === 1, `${String(id)} has ${String(n)} events (I2)`);
    });
    findings.figure(`commands sent by ${devices} clients at once, one effect each`, times);
  });

const asking = {
  name: "asking",
  otherwise: [
    { do: "approval", name: "go", action: "command", title: "Go on?", subject: { command: "make" } },
    { do: "text", text: "It was {{approval.go.id}}." },
  ],
};

/** Returns how often “allow” won. */
const answerRaces = async (
  findings: Findings,
  call: Call,
  threadId: string,
  cwd: string,
  times: number,
): Promise<number> => {
  await post(call, "/threads", { threadId, cwd, instance: "asking" });
  const winners = new Map<string, string>();
  for (let n = 0; n < times; n += 1) {
    await post(call, `/threads/${threadId}/inputs`, { inputId: `${threadId}-${n}`, text: "go", delivery: "prompt" });
    const requestId = await pendingRequest(call, threadId);
    const options = n % 2 === 0 ? ["allow", "reject"] : ["reject", "allow"];
    const answers = await Promise.all(
      options.map((optionId, device) =>
        call(`/requests/${encodeURIComponent(requestId)}/answer`, {
          body: { threadId, answer: { optionId } },
          key: `${threadId}-${n}-device-${device}`,
        }),
      ),
    );
    const accepted = answers.flatMap(({ status }, device) => (status === 200 ? [options[device] ?? ""] : []));
    findings.expect(accepted.length === 1, `${threadId} ${n}: ${accepted.length} answers won (I7)`, answers);
    const late = answers.filter(({ status }) => status !== 200);
    findings.expect(
      late.every(({ status, body }) => status === 409 && body.code === "already_answered"),
      `${threadId} ${n}: the second is not told who was first`,
      late,
    );
    winners.set(requestId, accepted[0] ?? "");
    await idle(call, threadId);
  }
  await compareWithRuntime(findings, call, threadId, winners);
  return [...winners.values()].filter((option) => option === "allow").length;
};

/** The runtime got one answer to each, the winner's, and acted on it. */
const compareWithRuntime = async (
  findings: Findings,
  call: Call,
  threadId: string,
  winners: ReadonlyMap<string, string>,
): Promise<void> => {
  const given = new Map<string, Array<string>>();
  let text = "";
  for (let after = ""; ;) {
    const page = await get(call, `/threads/${threadId}/records?limit=1000${after}`);
    for (const { dir, nativeKind, frame, events } of page.records) {
      if (dir === "out" && nativeKind === "answer") {
        const { requestId, answer } = frame.params;
        given.set(requestId, [...(given.get(requestId) ?? []), answer.optionId]);
      }
      for (const event of events) if (event.type === "content.delta") text += event.payload.text;
    }
    if (page.done) break;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
  for (const [requestId, winner] of winners)
    findings.expect(
      isDeepStrictEqual(given.get(requestId), [winner]),
      `${threadId}: the runtime did not get exactly the winner's answer to ${requestId} (I7)`,
      [winner, given.get(requestId)],
    );
  const expected = [...winners.values()].map((winner) => `It was ${winner}.`).join("");
  findings.expect(text === expected, `${threadId}: the runtime acted on other answers (I7)`);
};

const pendingRequest = async (call: Call, threadId: string): Promise<string> => {
  for (;;) {
    const { requests } = await get(call, `/requests?state=pending&threadId=${threadId}`);
    if (requests.length > 0) return requests[0].requestId;
    await pause(10);
  }
};

const idle = async (call: Call, threadId: string): Promise<void> => {
  for (;;) {
    const { thread, inputs } = await get(call, `/threads/${threadId}`);
    if (thread.activeTurnId === undefined && inputs.length === 0) return;
    await pause(10);
  }
};

/** One command from many clients: one effect, and each is told the same (I2). */
const sameCommand = async (findings: Findings, call: Call, key: string, cwd: string): Promise<void> => {
  const body = { threadId: `thread-${key}`, cwd, instance: "asking" };
  const answers = await Promise.all(Array.from({ length: devices }, () => call("/threads", { body, key })));
  const [first] = answers;
  findings.expect(first?.status === 200, `${key} is refused`, first);
  findings.expect(
    answers.every((answer) => isDeepStrictEqual(answer, first)),
    `${key} was told differently (I2)`,
    answers,
  );
};
