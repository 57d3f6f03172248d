/** Keeps the secrets of a command in memory around its dispatch (I16): before the log can ask for them, until it is clear who has them. */
import type { ClientCommand, ClientCommandOf, Receipt } from "@tributary/contracts";
import type { StoreError } from "@tributary/store";
import { Effect, type Semaphore } from "effect";
import type { Tools } from "./tools.ts";

type Dispatched = Effect.Effect<Receipt, StoreError>;

/** Runs `dispatched` with the command's secrets held; those of a refused command are let go again. */
export const withSecrets = (
  tools: Pick<Tools, "writer" | "answers" | "servers">,
  oneAtATime: Semaphore.Semaphore,
  command: ClientCommand,
  dispatched: Dispatched,
): Dispatched => {
  switch (command.type) {
    case "request.answer":
      return mayBeSecret(tools, command)
        ? // One after the other: what is held then is the answer of the command that is being decided.
          oneAtATime.withPermit(answering(tools, command, dispatched))
        : dispatched;
    case "thread.create":
      return Effect.suspend(() => creating(tools, command, dispatched));
    case "thread.delete":
      return Effect.tap(dispatched, ({ status }) =>
        Effect.sync(() => {
          if (status === "accepted") tools.servers.drop(command.threadId);
        }),
      );
    default:
      return dispatched;
  }
};

const findRequest = ({ writer }: Pick<Tools, "writer">, command: ClientCommandOf<"request.answer">) =>
  writer.state(command.threadId)?.requests.find(({ requestId }) => requestId === command.requestId);

/** One that is not known yet may turn out to be. */
const mayBeSecret = (tools: Pick<Tools, "writer">, command: ClientCommandOf<"request.answer">): boolean => {
  if ("optionId" in command.answer) return false;
  const request = findRequest(tools, command);
  if (request === undefined || request.form !== undefined) return true;
  return request.questions?.some(({ secret }) => secret === true) === true;
};

const answering = (
  tools: Pick<Tools, "writer" | "answers">,
  command: ClientCommandOf<"request.answer">,
  dispatched: Dispatched,
): Dispatched =>
  Effect.suspend(() => {
    const { threadId, requestId } = command;
    const isOurs = tools.answers.hold(threadId, requestId, command.answer);
    const settle = (isAccepted: boolean) =>
      Effect.sync(() => {
        // Also of a repeated command, whose answer was given long ago.
        const isWaiting = findRequest(tools, command)?.state === "answering";
        if (isOurs && !(isAccepted && isWaiting)) tools.answers.drop(threadId, requestId);
      });
    return dispatched.pipe(
      Effect.tap(({ status }) => settle(status === "accepted")),
      Effect.tapError(() => settle(false)),
    );
  });

const creating = (
  tools: Pick<Tools, "servers">,
  command: ClientCommandOf<"thread.create">,
  dispatched: Dispatched,
): Dispatched => {
  const { threadId, mcpServers } = command;
  const isOurs = tools.servers.hold(threadId, mcpServers);
  const letGo = Effect.sync(() => {
    if (isOurs) tools.servers.drop(threadId);
  });
  return dispatched.pipe(
    Effect.tap(({ status }) => (status === "accepted" ? Effect.void : letGo)),
    Effect.tapError(() => letGo),
  );
};
