/**
 * The whole engine, among random devices, runtimes, times and crashes, beside a small account of its own (`account.ts`).
 * `TRIBUTARY_MODEL_SEED` plays one seed, `TRIBUTARY_MODEL_SEQUENCES` that many from the first; a failure names its seed
 * and prints the script, cut down, as a scenario file.
 */
import { describe, expect, it } from "vitest";
import { checkTrace } from "./checks.ts";
import { playScript } from "./play.ts";
import type { Trace } from "./play.ts";
import { randomScript } from "./script.ts";
import type { ScriptLine } from "./script.ts";
import { shrink } from "./shrink.ts";

const lines = 60;
const usual = 40;
const long = 200;

const asked = process.env["TRIBUTARY_MODEL_SEED"];
const sequences = asked === undefined ? Number(process.env["TRIBUTARY_MODEL_SEQUENCES"] ?? usual) : 1;
const seeds = Array.from({ length: sequences }, (_, index) => Number(asked ?? 1) + index);

/** What is wrong with a script, if anything is. */
const fault = async (script: ReadonlyArray<ScriptLine>): Promise<string | undefined> => {
  try {
    const trace = await playScript(script);
    checkTrace(trace);
    met(trace);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const seen = new Set<string>();
const met = ({ log, refusals, script }: Trace): void => {
  for (const { type } of log) seen.add(type);
  for (const { reason } of refusals) seen.add(reason);
  for (const { receipt, calls } of script) {
    if (receipt?.code !== undefined) seen.add(receipt.code);
    for (const { method } of calls) seen.add(method);
  }
};

describe("the whole engine, among random devices, runtimes and crashes (I1 to I4, I6 to I9, I14)", () => {
  it.each(seeds)("seed %i", { timeout: 300_000 }, async (seed) => {
    const script = randomScript(seed, lines);
    const wrong = await fault(script);
    if (wrong === undefined) return;
    const shortest = await shrink(script, async (shorter) => (await fault(shorter)) === wrong, 100);
    const file = shortest.map((line) => JSON.stringify(line)).join("\n");
    expect.fail(`seed ${seed}: ${wrong}\nTRIBUTARY_MODEL_SEED=${seed} plays it again; cut down it is\n${file}`);
  });

  it.skipIf(sequences < usual)("and meets what it is about", () => {
    const kinds = [
      "input.handed_over input.unconfirmed input.failed input.withdrawn input.done input.edited input.discarded",
      "request.answering request.answered request.expired request.withdrawn",
      "turn.started turn.ended message.appended task.ended activity.ended queue.held queue.resumed",
      "session.exited session.released interrupt.escalated thread.deleted thread.archived",
      "prompt steer answer interrupt terminate close",
      "busy already_answered request_expired unknown_request thread_deleted thread_archived thread_exists",
      "other_generation session_over turn_over turn_unknown not_active_turn undecodable",
      // Rare ones: a long run must meet them too.
      sequences >= long ? "session.failed request.delivery_failed message.retracted input_exists" : "",
    ].flatMap((line) => line.split(" ").filter((kind) => kind !== ""));
    expect(kinds.filter((kind) => !seen.has(kind))).toEqual([]);
  });
});
