/** Devices of the tests: paired over HTTP, as a phone would be. */
import { Effect } from "effect";
import { client } from "../support/server.ts";
import type { Answered, TestServer } from "../support/server.ts";

export interface TestDevice {
  readonly deviceId: string;
  readonly token: string;
  readonly call: TestServer["call"];
}

/** Fails with what was answered when that is not the status. */
export const answered = (status: number, answer: Answered): Answered => {
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
};

export const startPairing = async (server: TestServer, body: Readonly<Record<string, unknown>> = {}) =>
  answered(200, await server.call("/pairings", { body })).body as {
    readonly pairingId: string;
    readonly code: string;
    readonly url: string;
    readonly pin?: string;
    readonly expiresAt: string;
  };

/** Claims without a token. */
export const claim = (server: TestServer, code: string, name = "Phone"): Promise<Answered> =>
  server.call("/pairings/claim", { token: null, body: { code, name } });

export const decide = (server: TestServer, pairingId: string, decision: "confirm" | "refuse"): Promise<Answered> =>
  server.call(`/pairings/${pairingId}/decision`, { body: { decision } });

export const collect = (server: TestServer, pairingId: string, secret: string, waitMs = 0): Promise<Answered> =>
  server.call(`/pairings/${pairingId}/token`, { token: null, body: { secret, waitMs } });

/** The whole way: started, claimed, confirmed, collected. */
export const pairDevice = (server: TestServer, asked: Readonly<Record<string, unknown>> = {}) =>
  Effect.promise(async (): Promise<TestDevice> => {
    const { code, pairingId } = await startPairing(server, asked);
    const { secret } = answered(200, await claim(server, code)).body as { readonly secret: string };
    answered(200, await decide(server, pairingId, "confirm"));
    const { token, deviceId } = answered(200, await collect(server, pairingId, secret)).body as TestDevice;
    return { deviceId, token, call: client(server.url, token) };
  });
