/** Commands as tests need them. */
import { messageId, type ClientCommandOf, type InternalCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import type { StepTx } from "@tributary/store";

export const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor: { kind: "client", id: "device-1" },
  place: { projectId: "P", cwd: "/p" },
  root: { path: "/p", exists: true },
  instance: { known: true, refusedOptions: {} },
};

export const createThread = (threadId: string, commandId = `create-${threadId}`): ClientCommandOf<"thread.create"> => ({
  type: "thread.create",
  commandId,
  threadId,
  cwd: "/p",
  instance: "stub",
});

export const submit = (
  threadId: string,
  inputId: string,
  text = `text of ${inputId}`,
): ClientCommandOf<"input.submit"> => ({
  type: "input.submit",
  commandId: `submit-${threadId}-${inputId}`,
  threadId,
  inputId,
  text,
  delivery: "queue",
});

export const rename = (threadId: string, commandId: string, title: string): ClientCommandOf<"thread.rename"> => ({
  type: "thread.rename",
  commandId,
  threadId,
  title,
});

export const runtime = { actor: { kind: "runtime", id: "stub" } } as const;

const capabilities = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "none",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: false, http: false, listChanged: false },
  refusedOptions: {},
} as const;

/** What begins a runtime session and a turn in it. */
export const openSession: ReadonlyArray<InternalCommand> = [
  { type: "session.open", generation: 1 },
  { type: "session.opened", generation: 1, nativeSessionId: "native-1", resumed: false, capabilities },
];

export const startTurn = (turnId: string): InternalCommand => ({
  type: "turn.start",
  turnId,
  generation: 1,
  origin: "runtime",
});

export const append = (turnId: string, itemId: string, offset: number, text: string): InternalCommand => ({
  type: "message.append",
  messageId: messageId(turnId, [], itemId, 0),
  offset,
  text,
  ...(offset === 0 ? { start: { turnId, agentPath: [], itemId, segment: 0, generation: 1 } } : {}),
});

export const complete = (turnId: string, itemId: string): InternalCommand => ({
  type: "message.complete",
  messageId: messageId(turnId, [], itemId, 0),
});

/** Decides each and expects all to be accepted. */
export const decideAll = (tx: StepTx, commands: ReadonlyArray<InternalCommand>): void => {
  for (const command of commands) {
    const decision = tx.decide(command, runtime);
    if (!decision.ok) throw new Error(`${command.type} was refused: ${decision.reason}`);
  }
};
