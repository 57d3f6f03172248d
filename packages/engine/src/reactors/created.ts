/** What a thread was created with and its decider's state does not keep: read from its first event. */
import { OpenError } from "@tributary/contracts";
import type { OpenOptions, StoredEventOf } from "@tributary/contracts";
import type { LogEvent } from "@tributary/store";
import { Effect } from "effect";
import { failure } from "../steps.ts";
import type { Tools } from "../tools.ts";

type Created = Pick<OpenOptions, "systemPrompt" | "mcpServers" | "disallowedTools">;

/** An MCP server whose secrets are gone is left out, and that is told in the thread. */
export const createdAs = Effect.fnUntraced(function* (
  tools: Tools,
  threadId: string,
): Effect.fn.Return<Created, OpenError> {
  const [first] = yield* Effect.mapError(
    tools.log.page({ after: 0, threadId, limit: 1 }),
    ({ message }) =>
      new OpenError({
        code: "runtime_unavailable",
        failure: failure("unknown", "storage", `The thread's settings could not be read: ${message}`, true),
      }),
  );
  if (first === undefined || !isCreated(first)) return {};
  const { systemPrompt, mcpServers, disallowedTools } = first.payload;
  const restored = mcpServers === undefined ? undefined : tools.servers.restore(threadId, mcpServers);
  if (restored !== undefined && restored.missing.length > 0) {
    const names = restored.missing.join(", ");
    yield* tools.step(threadId, ({ version }) => [
      {
        type: "notice.record",
        noticeId: `n:mcp:${version}`,
        level: "warning",
        code: "mcp_secrets_missing",
        message:
          `Without their secrets, which are kept in memory only, these MCP servers are left out: ${names}. ` +
          `Start a new thread, or configure them with the instance`,
      },
    ]);
  }
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(restored === undefined ? {} : { mcpServers: restored.servers }),
    ...(disallowedTools === undefined ? {} : { disallowedTools }),
  };
});

const isCreated = (event: LogEvent): event is StoredEventOf<"thread.created"> => event.type === "thread.created";
