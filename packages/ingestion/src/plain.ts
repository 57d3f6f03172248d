/** Commands and checkpoints are plain JSON: a key without a value is absent, never undefined. */

type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` with its undefined values read as absent keys. */
export type Defined<T> = { readonly [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  readonly [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** A copy without the keys whose value is undefined. */
export const defined = <T extends object>(value: T): Defined<T> =>
  // What is filtered out is what the type says may be absent.
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;

/** A copy of those of `keys` that are there. */
export const pick = <T extends object, const K extends keyof T>(value: T, keys: ReadonlyArray<K>): Pick<T, K> =>
  Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]])) as Pick<T, K>;

export const samePath = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one === other || (one.length === other.length && one.every((part, at) => part === other[at]));

export const root: ReadonlyArray<string> = [];
