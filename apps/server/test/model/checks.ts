/** What must hold of a script that was played, whatever it said. Each throws, naming the invariant. */
import type { LogEvent } from "@tributary/store";
import { openWithoutSession } from "../support/open-work.ts";
import { Account } from "./account.ts";
import { checkTexts } from "./texts.ts";
import type { Played, Trace } from "./play.ts";
import { same, threads } from "./script.ts";
import type { ScriptLine } from "./script.ts";

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

const part = (line: ScriptLine, kind: "command" | "event"): ScriptLine | undefined =>
  line[kind] as ScriptLine | undefined;

/** What the answer to a command must be, where that follows from the account alone. */
const expectedAnswer = (command: ScriptLine, account: Account): string | undefined => {
  const { type } = command;
  if (!account.created) return type === "thread.create" ? undefined : "thread_not_found";
  if (account.deleted) return "thread_deleted";
  if (type === "thread.create") return "thread_exists";
  if (type === "input.submit") {
    if (account.archived) return "thread_archived";
    return account.get("input", String(command["inputId"])) === undefined ? undefined : "input_exists";
  }
  if (type !== "request.answer") return undefined;
  const request = account.get("request", String(command["requestId"]));
  if (request === undefined) return "unknown_request";
  if (request.state === "gone") return "request_expired";
  if (request.state !== "pending") return "already_answered";
  const { optionId } = command["answer"] as { readonly optionId: string };
  if (command["subjectHash"] !== undefined) return optionId === "other" ? undefined : "request_changed";
  return optionId === "other" ? "invalid_answer" : "accepted";
};

/** I1, I2: each command has one receipt and one effect; what was acknowledged stays in the log. */
const checkReceipts = (played: ReadonlyArray<Played>, log: ReadonlyArray<LogEvent>): void => {
  const first = new Map<string, Played>();
  for (const step of played) {
    const command = part(step.line, "command");
    if (command === undefined) continue;
    const id = String(command["commandId"]);
    const before = first.get(id);
    if (before === undefined) first.set(id, step);
    else {
      must(same(before.receipt, step.receipt), `${id} again has another receipt (I2)`);
      must(!step.events.some(({ commandId }) => commandId === id), `${id} again has another effect (I2)`);
    }
    const { receipt } = step;
    if (receipt?.status === "accepted" && receipt.sequence !== undefined)
      must(log[receipt.sequence - 1]?.sequence === receipt.sequence, `${id} was acknowledged and is not there (I1)`);
  }
};

/** I1, I3: what once was in the log is there as it was; numbers are gap-free and rising, of the log and of each stream. */
const checkLog = (played: ReadonlyArray<Played>, log: ReadonlyArray<LogEvent>): void => {
  const seen = played.flatMap(({ events }) => events);
  must(same(log.slice(0, seen.length), seen), "the log is not what it was (I1)");
  const versions = new Map<string, number>();
  for (const [index, { sequence, streamId, version }] of log.entries()) {
    must(sequence === index + 1, `sequence ${sequence} is in place ${index + 1} (I3)`);
    must(version === (versions.get(streamId) ?? 0) + 1, `version ${version} of ${streamId} (I3)`);
    versions.set(streamId, version);
  }
};

const endsATurn: ReadonlySet<unknown> = new Set(["turn.completed", "turn.started", "session.exited"]);

/** I6: an event changes its own generation, and ends no turn but the one that it may. */
const checkApart = ({ line, events, calls }: Played, account: Account): void => {
  const event = part(line, "event");
  if (event === undefined) return;
  const { type, generation, turnId } = event;
  if (typeof generation === "number" && generation < account.generation)
    must(events.length === 0, `an event of generation ${generation} changed generation ${account.generation} (I6)`);
  // A call that came of it may have its own consequences.
  if (calls.length > 0) return;
  const ended = events.find((one) => one.type === "turn.ended" && one.streamId === event["threadId"]);
  if (ended === undefined) return;
  must(endsATurn.has(type), `${String(type)} ended a turn (I6)`);
  if (type === "turn.completed")
    must(
      (ended.payload as { turnId: string }).turnId === turnId,
      `the end of ${String(turnId)} ended another turn (I6)`,
    );
};

/** I2, I7: what reached the runtime was handed over or answered before, as often, and as it was said. */
const checkCalls = ({ calls }: Played, accounts: ReadonlyMap<string, Account>, made: Map<string, number>): void => {
  for (const call of calls) {
    if (call.method === "prompt" || call.method === "steer") {
      const id = String(call["inputId"]);
      const input = accounts.get(call.threadId)?.get("input", id);
      const times = (made.get(`${call.threadId} ${id}`) ?? 0) + 1;
      made.set(`${call.threadId} ${id}`, times);
      must(input !== undefined && times <= input.out, `${id} reached the runtime ${times} times`);
      must(input?.text === call["text"], `${id} reached the runtime with other words`);
    }
    if (call.method === "answer") {
      const id = String(call["requestId"]);
      const request = accounts.get(call.threadId)?.get("request", id);
      const times = (made.get(`${call.threadId} ${id}`) ?? 0) + 1;
      made.set(`${call.threadId} ${id}`, times);
      must(request !== undefined && times <= request.out, `${id} was answered ${times} times to the runtime (I7)`);
      must(same(request?.answer, call["answer"]), `${id} was answered with something else (I7)`);
    }
  }
};

/** Checks a whole trace; throws the first thing that does not hold. */
export const checkTrace = (trace: Trace): void => {
  const all = [...trace.script, ...trace.stopped, ...trace.released];
  const accounts = new Map<string, Account>([...threads, "nobody"].map((id) => [id, new Account()]));
  const made = new Map<string, number>();
  const answered = new Set<unknown>();
  const walk = (steps: ReadonlyArray<Played>): void => {
    for (const step of steps) {
      const command = part(step.line, "command");
      const account = accounts.get(String((command ?? part(step.line, "event"))?.["threadId"]));
      if (command !== undefined && account !== undefined && !answered.has(command["commandId"])) {
        answered.add(command["commandId"]);
        const expected = expectedAnswer(command, account);
        const got = step.receipt?.code ?? step.receipt?.status;
        must(expected === undefined || got === expected, `${JSON.stringify(command)} is ${got}, not ${expected}`);
      }
      if (account !== undefined) checkApart(step, account);
      for (const event of step.events) accounts.get(event.streamId)?.apply(event);
      checkCalls(step, accounts, made);
      for (const [id, { isLive, standing }] of accounts)
        must(isLive || standing.length === 0, `${id} has no session, and ${standing.join(", ")} (I8)`);
    }
  };
  walk(trace.script);
  walk(trace.stopped);
  for (const [id, { activeTurn }] of accounts)
    must(activeTurn === undefined, `${id} was stopped, and ${activeTurn} runs on (I9)`);
  walk(trace.released);
  for (const [id, { isLive }] of accounts) must(!isLive, `${id} was released, and its session is there (I9)`);
  must(trace.liveSessions === 0, `${trace.liveSessions} processes are left (I9)`);
  must(openWithoutSession(trace.final).length === 0, `left open: ${openWithoutSession(trace.final).join(", ")} (I8)`);
  checkReceipts(all, trace.log);
  checkLog(all, trace.log);
  checkTexts(all, trace.final);
  must(same(trace.final, trace.rebuilt), "rebuilt projections are not what was there (I14)");
};
