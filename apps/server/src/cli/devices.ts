/** `tributary devices`: who has a token, who no longer, and what was done about it. */
import type { AuditEntry, Device } from "@tributary/contracts/api";
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import { oneLine, print, printJson, table } from "./output.ts";
import type { Target } from "./root.ts";

const deviceLine = ({ deviceId, name, state, scopes, lastSeenAt, expiresAt }: Device): ReadonlyArray<string> => [
  deviceId,
  oneLine(name, 30),
  state,
  lastSeenAt?.slice(0, 13).replace("T", " ") ?? "never",
  expiresAt.slice(0, 10),
  scopes.join(","),
];

export const listDevices = Effect.fn("cli.devices")(function* (target: Target) {
  const { client, access } = yield* connect(target, "store");
  const { devices } = yield* Effect.mapError(client.devices.list(), clientFailure(access));
  if (target.json) return yield* printJson({ devices });
  if (devices.length === 0) return yield* print("No devices are paired: `tributary pair` lets one in.\n");
  return yield* print(
    table([["DEVICE", "NAME", "STATE", "SEEN (HOUR)", "EXPIRES", "SCOPES"], ...devices.map(deviceLine)]),
  );
}, Effect.scoped);

export const revokeDevice = Effect.fn("cli.devices.revoke")(function* (target: Target, deviceId: string) {
  const { client, access } = yield* connect(target, "store");
  const device = yield* Effect.mapError(client.devices.revoke({ params: { deviceId } }), clientFailure(access));
  return yield* target.json ? printJson(device) : print(`“${oneLine(device.name)}” (${deviceId}) is revoked.\n`);
}, Effect.scoped);

const auditLine = ({ at, type, by, about, address, detail }: AuditEntry): ReadonlyArray<string> => [
  at.slice(0, 19).replace("T", " "),
  type,
  by ?? "–",
  oneLine(address ?? "–"),
  oneLine([about, detail].filter((part) => part !== undefined && part !== "").join(": ")),
];

/** The newest entries, the newest last: it ends where the eye is. */
export const audit = Effect.fn("cli.devices.audit")(function* (target: Target, limit: number) {
  const { client, access } = yield* connect(target, "store");
  const page = yield* Effect.mapError(client.audit.list({ query: { limit } }), clientFailure(access));
  if (target.json) return yield* printJson(page);
  if (page.entries.length === 0) return yield* print("Nothing is recorded yet.\n");
  return yield* print(table([["AT (UTC)", "WHAT", "BY", "FROM", ""], ...page.entries.toReversed().map(auditLine)]));
}, Effect.scoped);
