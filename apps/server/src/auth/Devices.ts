/** Clients with a token of their own: added by pairing, listed, seen, revoked, expired (I17). */
import type { AccessScope } from "@tributary/contracts/api";
import { Clock, Context, Deferred, Duration, Effect, Layer } from "effect";
import type { TokenHolder } from "../http/Tokens.ts";
import { AuthFile } from "./auth-file.ts";
import type { AuthFileError, AuthState, StoredDevice } from "./auth-file.ts";
import { hashOf, newId, newSecret } from "./secrets.ts";

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** Milliseconds that a device's token holds. */
export const DeviceLifetime = Context.Reference<number>("tributary/server/DeviceLifetime", {
  defaultValue: () => 90 * day,
});

/** How long a device that is over stays on the list. */
const remembered = 30 * day;

export type DeviceState = "active" | "expired" | "revoked";
/** What a token or a cookie turned out to be. */
export type Checked = { readonly holder: TokenHolder } | { readonly refused: "unknown" | "expired" | "revoked" };

export class Devices extends Context.Service<
  Devices,
  {
    readonly all: () => ReadonlyArray<StoredDevice>;
    readonly get: (id: string) => StoredDevice | undefined;
    readonly state: (device: StoredDevice) => DeviceState;
    /** By its token. */
    readonly check: (token: string) => Checked;
    /** By its id, as for a cookie. */
    readonly checkId: (id: string) => Checked;
    /** The token is told here and never again. */
    readonly add: (made: {
      readonly name: string;
      readonly scopes: ReadonlyArray<AccessScope>;
    }) => Effect.Effect<{ readonly device: StoredDevice; readonly token: string }, AuthFileError>;
    /** Ends it at once, even where that can't be written. Undefined: there is none. */
    readonly revoke: (id: string) => Effect.Effect<StoredDevice | undefined, AuthFileError>;
    /** That it was there just now; kept to the hour. */
    readonly seen: (id: string) => Effect.Effect<void>;
  }
>()("tributary/server/Devices") {
  static readonly layer: Layer.Layer<Devices, never, AuthFile> = Layer.effect(
    Devices,
    Effect.suspend(() => make),
  );
}

const without = (state: AuthState, id: string): Pick<AuthState, "devices" | "cookies"> => ({
  devices: state.devices.filter((device) => device.id !== id),
  cookies: state.cookies.filter(({ holder }) => holder !== id),
});

const make = Effect.gen(function* () {
  const file = yield* AuthFile;
  const clock = yield* Clock.Clock;
  const lifetime = yield* DeviceLifetime;
  const now = () => clock.currentTimeMillisUnsafe();
  /** Revoked since the start, also where the file could not say so. */
  const gone = new Map<string, Deferred.Deferred<void>>();
  const revokedHere = new Set<string>();
  const holders = new Map<string, TokenHolder>();

  const all = () => file.current().devices;
  const get = (id: string) => all().find((device) => device.id === id);
  const state = ({ id, revokedAt, expiresAt }: StoredDevice): DeviceState => {
    if (revokedAt !== undefined || revokedHere.has(id)) return "revoked";
    return expiresAt <= now() ? "expired" : "active";
  };

  const ended = (id: string): Deferred.Deferred<void> => {
    const known = gone.get(id) ?? Deferred.makeUnsafe<void>();
    gone.set(id, known);
    return known;
  };

  const holderOf = ({ id, scopes, expiresAt }: StoredDevice): TokenHolder => {
    const known = holders.get(id);
    if (known !== undefined) return known;
    const expiry = Effect.suspend(() => clock.sleep(Duration.millis(Math.max(0, expiresAt - now()))));
    const holder: TokenHolder = {
      id,
      person: "owner",
      scopes,
      revoked: Effect.raceFirst(Deferred.await(ended(id)), expiry),
    };
    holders.set(id, holder);
    return holder;
  };

  const checked = (device: StoredDevice | undefined): Checked => {
    if (device === undefined) return { refused: "unknown" };
    const is = state(device);
    return is === "active" ? { holder: holderOf(device) } : { refused: is };
  };

  return Devices.of({
    all,
    get,
    state,
    check: (token) => {
      const hash = hashOf(token);
      return checked(all().find((device) => device.hash === hash));
    },
    checkId: (id) => checked(get(id)),
    add: Effect.fnUntraced(function* ({ name, scopes }) {
      const token = newSecret();
      const createdAt = now();
      const device: StoredDevice = {
        id: newId("device"),
        name,
        scopes,
        hash: hashOf(token),
        createdAt,
        expiresAt: createdAt + lifetime,
      };
      yield* file.update((current) => ({
        ...current,
        devices: [
          ...current.devices.filter((one) => (one.revokedAt ?? one.expiresAt) + remembered > createdAt),
          device,
        ],
      }));
      return { device, token };
    }),
    revoke: Effect.fnUntraced(function* (id) {
      const device = get(id);
      if (device === undefined) return undefined;
      const revoked: StoredDevice = { ...device, revokedAt: device.revokedAt ?? now() };
      revokedHere.add(id);
      holders.delete(id);
      yield* Deferred.succeed(ended(id), undefined);
      yield* file.update((current) => {
        const { devices, cookies } = without(current, id);
        return { ...current, cookies, devices: [...devices, revoked].toSorted((a, b) => a.createdAt - b.createdAt) };
      });
      return revoked;
    }),
    seen: Effect.fnUntraced(function* (id) {
      const at = Math.floor(now() / hour) * hour;
      const before = get(id)?.lastSeenAt ?? 0;
      if (at <= before) return;
      yield* Effect.ignore(
        file.update((current) => ({
          ...current,
          devices: current.devices.map((device) => (device.id === id ? { ...device, lastSeenAt: at } : device)),
        })),
      );
    }),
  });
});
