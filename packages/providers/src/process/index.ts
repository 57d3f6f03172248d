/**
 * Processes of runtimes: started, spoken with line by line, found again, and ended with everything they left behind.
 */
export { childEnvironment, type EnvironmentValue, MARKER_VARIABLE } from "./environment.ts";
export {
  type GivenUpCall,
  type IncomingRequest,
  type JsonRpc,
  type JsonRpcOptions,
  type LineTransport,
  makeJsonRpc,
  type OrphanReply,
} from "./json-rpc.ts";
export { RpcAlreadyReplied, RpcClosed, RpcError, RpcTimeout } from "./json-rpc-error.ts";
export {
  frameWriter,
  parseFrame,
  readFrame,
  type RpcErrorBody,
  type RpcFrame,
  type RpcId,
  type RpcMessage,
} from "./json-rpc-frame.ts";
export { DEFAULT_MAX_LINE_BYTES, isOversize, type Line, LineSplitter, OversizeLine } from "./lines.ts";
export { SpawnError } from "./spawn-error.ts";
export { type LineInput, StdinClosed } from "./stdin.ts";
export {
  type AgentEnd,
  type AgentExit,
  type AgentHandle,
  AgentIdentity,
  type AgentOptions,
  spawnAgent,
} from "./supervised.ts";
export { bootId, identity, isAlive, snapshot, stillAlive } from "./table.ts";
export { type MarkerReading, ProcessIdentity, type ProcessRow, ProcessTableError } from "./table-row.ts";
export { STDERR_TAIL_BYTES, TextTail } from "./tail.ts";
export { type EndOptions, type EndReport, endTree, findSurvivors, type TreeTarget } from "./tree.ts";
