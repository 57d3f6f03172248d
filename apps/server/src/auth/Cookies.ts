/** Browsers' cookies: each stands for one token, holds no longer than it, and is something else than it. */
import { Clock, Context, Effect, Layer } from "effect";
import { AuthFile } from "./auth-file.ts";
import type { AuthFileError, StoredCookie } from "./auth-file.ts";
import { hashOf, newSecret } from "./secrets.ts";

const lifetime = 30 * 24 * 60 * 60 * 1000;
/** Of one holder; the oldest goes first. */
const most = 16;

export interface CookieOf {
  readonly holder: string;
  readonly owner?: string;
  /** Milliseconds since the epoch; when the token ends. */
  readonly until?: number;
}

export class Cookies extends Context.Service<
  Cookies,
  {
    /** The value is told here and never again. */
    readonly add: (
      of: CookieOf,
    ) => Effect.Effect<{ readonly value: string; readonly expiresAt: number }, AuthFileError>;
    /** The cookie of a value, if it still holds. */
    readonly find: (value: string) => StoredCookie | undefined;
    readonly remove: (value: string) => Effect.Effect<void, AuthFileError>;
  }
>()("tributary/server/Cookies") {
  static readonly layer: Layer.Layer<Cookies, never, AuthFile> = Layer.effect(
    Cookies,
    Effect.gen(function* () {
      const file = yield* AuthFile;
      const clock = yield* Clock.Clock;
      const now = () => clock.currentTimeMillisUnsafe();
      return {
        add: Effect.fnUntraced(function* ({ holder, owner, until }) {
          const value = newSecret();
          const createdAt = now();
          const expiresAt = Math.min(createdAt + lifetime, until ?? Number.POSITIVE_INFINITY);
          const cookie: StoredCookie = {
            hash: hashOf(value),
            holder,
            ...(owner === undefined ? {} : { owner }),
            createdAt,
            expiresAt,
          };
          yield* file.update((state) => {
            const live = state.cookies.filter((one) => one.expiresAt > createdAt);
            const others = live.filter((one) => one.holder !== holder);
            const own = live.filter((one) => one.holder === holder).slice(-(most - 1));
            return { ...state, cookies: [...others, ...own, cookie] };
          });
          return { value, expiresAt };
        }),
        find: (value) => {
          const hash = hashOf(value);
          const found = file.current().cookies.find((cookie) => cookie.hash === hash);
          return found !== undefined && found.expiresAt > now() ? found : undefined;
        },
        remove: (value) => {
          const hash = hashOf(value);
          return file.update((state) => ({ ...state, cookies: state.cookies.filter((one) => one.hash !== hash) }));
        },
      };
    }),
  );
}
