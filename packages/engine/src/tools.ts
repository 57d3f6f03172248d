/** What every reactor works with. */
import { Attachments, EventLog, Processes, Writer } from "@tributary/store";
import { Effect } from "effect";
import { Activity } from "./activity.ts";
import { EngineSettings } from "./config.ts";
import { Sessions } from "./live.ts";
import { Facts, Ingested, Places, RecordSink, Runtimes, Survivors } from "./ports.ts";
import { HeldAnswers, HeldServers } from "./secrets.ts";
import { makeStep } from "./steps.ts";

/** Gathers the services once, so that reactors are plain functions of them. */
export const makeTools = Effect.gen(function* () {
  const config = yield* EngineSettings;
  return {
    timings: config.timings,
    marker: config.marker,
    writer: yield* Writer,
    log: yield* EventLog,
    processes: yield* Processes,
    attachments: yield* Attachments,
    places: yield* Places,
    runtimes: yield* Runtimes,
    facts: yield* Facts,
    sink: yield* RecordSink,
    ingested: yield* Ingested,
    survivors: yield* Survivors,
    sessions: (yield* Sessions).byThread,
    step: yield* makeStep,
    activity: new Activity(),
    answers: new HeldAnswers(),
    servers: new HeldServers(),
    /** Has a thread looked at again; for what no commit tells. */
    wake: (_threadId: string): void => {},
    /** Threads whose session was asked for without an input. */
    wanted: new Set<string>(),
    /** How many sessions of a thread went before they took an input, in a row. */
    fruitless: new Map<string, number>(),
  };
});

export type Tools = Effect.Success<typeof makeTools>;
