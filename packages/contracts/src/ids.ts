import { Schema } from "effect";

/**
 * An identifier made by a client, a runtime or us: 1 to 512 UTF-16 code units, no control characters, and no half of a
 * surrogate pair: UTF-8 has none, so two such ids would be one in the store, which no URL could name.
 * Never parsed for meaning; compared byte by byte.
 */
export const Id = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(512),
  // oxlint-disable-next-line no-control-regex
  Schema.isPattern(/^[^\u0000-\u001f\u007f\p{Surrogate}]*$/u),
);

export const ThreadId = Id;
export type ThreadId = string;
export const ProjectId = Id;
export type ProjectId = string;
export const CommandId = Id;
export type CommandId = string;
export const InputId = Id;
export type InputId = string;
export const TurnId = Id;
export type TurnId = string;
export const ItemId = Id;
export type ItemId = string;
export const RequestId = Id;
export type RequestId = string;
export const TaskId = Id;
export type TaskId = string;
export const InstanceId = Id;
export type InstanceId = string;

/** One incarnation of a runtime session attached to a thread: 1, 2, … */
export const Generation = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1));
export type Generation = number;

/** Which agent speaks: `[]` the root, `["a","b"]` a sub-agent of a sub-agent. At most 16 deep. */
export const AgentPath = Schema.Array(Id).check(Schema.isMaxLength(16));
export type AgentPath = ReadonlyArray<string>;

/** Informational wall-clock instant, ISO 8601. Order never comes from it (I3). */
export const Instant = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/));
export type Instant = string;

const path = (agentPath: AgentPath): string => agentPath.join(".");

/** The key of an item inside a thread: the same native item id under another turn or agent is another item. */
export const itemKey = (turnId: string | undefined, agentPath: AgentPath, itemId: string): string =>
  `${turnId ?? "-"}/${path(agentPath)}/${itemId}`;

/** `<turnId>/<agentPath joined by .>/<itemId>#<segment>`; a message without a turn uses `-`. Segments count from 0. */
export const messageId = (turnId: string | undefined, agentPath: AgentPath, itemId: string, segment: number): string =>
  `${itemKey(turnId, agentPath, itemId)}#${segment}`;
