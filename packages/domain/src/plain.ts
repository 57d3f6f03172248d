/** State and events are plain JSON: a key without a value is absent, never undefined. */

type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` with its undefined values read as absent keys. */
export type Defined<T> = { readonly [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  readonly [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** A copy without the keys whose value is undefined. */
export const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;

/** A copy without some keys. */
export const without = <T extends object, K extends keyof T>(value: T, ...keys: ReadonlyArray<K>): Omit<T, K> => {
  const copy = { ...value };
  for (const key of keys) delete copy[key];
  return copy;
};

/** A copy of those of `keys` that are there. */
export const pick = <T extends object, const K extends keyof T>(value: T, keys: ReadonlyArray<K>): Pick<T, K> =>
  Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]])) as Pick<T, K>;

/** Whether `prefix` is `path`, or an ancestor of it. */
export const isWithin = (prefix: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  prefix.length <= path.length && prefix.every((part, index) => path[index] === part);
