/** The incarnations of a runtime that a thread has had. */
import type { Capabilities, DomainPayloads, Failure } from "@tributary/contracts";
import { compact, literalOf, numberOf, optJson, optNumber, optString, stringOf, type Row } from "../cells.ts";
import type { Reader } from "./reader.ts";

/** One generation. `running` and `waiting` are not told here: they are the thread's. */
export interface SessionRecord {
  readonly generation: number;
  readonly state: "opening" | "ready" | "exited" | "released" | "failed";
  readonly nativeSessionId?: string;
  readonly resumed?: boolean;
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly capabilities?: Capabilities;
  readonly options?: NonNullable<DomainPayloads["session.configured"]["options"]>;
  readonly error?: Failure;
  readonly exit?: Omit<DomainPayloads["session.exited"], "generation">;
  readonly releaseReason?: string;
  readonly openedAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

const columns = `generation, state, native_session_id, resumed, model, effort, service_tier, capabilities, options, error,
  exit, release_reason, opened_at, started_at, ended_at`;

const sessionRecord = (row: Row): SessionRecord => {
  const resumed = optNumber(row, "resumed");
  return compact({
    generation: numberOf(row, "generation"),
    state: literalOf<SessionRecord["state"]>(row, "state"),
    nativeSessionId: optString(row, "native_session_id"),
    resumed: resumed === undefined ? undefined : resumed === 1,
    model: optString(row, "model"),
    effort: optString(row, "effort"),
    serviceTier: optString(row, "service_tier"),
    capabilities: optJson<Capabilities>(row, "capabilities"),
    options: optJson<NonNullable<SessionRecord["options"]>>(row, "options"),
    error: optJson<Failure>(row, "error"),
    exit: optJson<NonNullable<SessionRecord["exit"]>>(row, "exit"),
    releaseReason: optString(row, "release_reason"),
    openedAt: stringOf(row, "opened_at"),
    startedAt: optString(row, "started_at"),
    endedAt: optString(row, "ended_at"),
  });
};

/** The newest generations first, at most `limit`. */
export const sessions = (reader: Reader, threadId: string, limit: number): ReadonlyArray<SessionRecord> =>
  reader
    .all(`SELECT ${columns} FROM {sessions} WHERE thread_id = ? ORDER BY generation DESC LIMIT ?`, threadId, limit)
    .map(sessionRecord);
