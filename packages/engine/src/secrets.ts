/**
 * Secrets that commands carry and the log must not (I16): real values, in memory, from dispatch until the runtime has
 * them. They do not survive the host; what follows from that is told where they are missed.
 */
import type { Answer, McpServer } from "@tributary/contracts";
import { mask } from "@tributary/domain";

const key = (threadId: string, id: string): string => `${threadId}\u0000${id}`;

/** Answers as people gave them. The log keeps them masked. */
export class HeldAnswers {
  readonly #answers = new Map<string, Answer>();

  /** Holds an answer; false when one is held already, which then is the one that counts (the first wins). */
  hold(threadId: string, requestId: string, answer: Answer): boolean {
    const at = key(threadId, requestId);
    if (this.#answers.has(at)) return false;
    this.#answers.set(at, answer);
    return true;
  }

  get(threadId: string, requestId: string): Answer | undefined {
    return this.#answers.get(key(threadId, requestId));
  }

  drop(threadId: string, requestId: string): void {
    this.#answers.delete(key(threadId, requestId));
  }

  /** Nobody waits for an answer of this thread any more. */
  dropAll(threadId: string): void {
    const prefix = key(threadId, "");
    for (const at of this.#answers.keys()) if (at.startsWith(prefix)) this.#answers.delete(at);
  }
}

/** MCP servers as they were given when their thread was created. */
export class HeldServers {
  readonly #servers = new Map<string, ReadonlyArray<McpServer>>();

  hold(threadId: string, servers: ReadonlyArray<McpServer> | undefined): boolean {
    if (servers === undefined || this.#servers.has(threadId) || !servers.some(hasSecrets)) return false;
    this.#servers.set(threadId, servers);
    return true;
  }

  drop(threadId: string): void {
    this.#servers.delete(threadId);
  }

  /** The stored servers with their secrets back in place; those whose secrets are gone are named, not given. */
  restore(threadId: string, stored: ReadonlyArray<McpServer>): Restored {
    const held = this.#servers.get(threadId) ?? [];
    const servers: Array<McpServer> = [];
    const missing: Array<string> = [];
    for (const server of stored) {
      const whole = held.find(({ name }) => name === server.name);
      if (!isMasked(server)) servers.push(server);
      else if (whole === undefined) missing.push(server.name);
      else servers.push(whole);
    }
    return { servers, missing };
  }
}

export interface Restored {
  readonly servers: ReadonlyArray<McpServer>;
  readonly missing: ReadonlyArray<string>;
}

const values = ({ env, headers }: McpServer): ReadonlyArray<string> => [
  ...Object.values(env ?? {}),
  ...Object.values(headers ?? {}),
];
const hasSecrets = (server: McpServer): boolean => values(server).length > 0;
const isMasked = (server: McpServer): boolean => values(server).includes(mask);

/** Whether some value of an answer stands masked. */
export const isMaskedAnswer = (answer: Answer): boolean =>
  "answers" in answer && Object.values(answer.answers).includes(mask);
