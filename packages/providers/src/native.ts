/** Reading what a runtime sent, which may be anything: a field of another type than expected is a field that is not there. */
export type NativeObject = { readonly [key: string]: unknown };

export const asObject = (value: unknown): NativeObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as NativeObject) : undefined;

export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Text that says something. */
export const asWords = (value: unknown): string | undefined => {
  const text = asText(value);
  return text === undefined || text.trim() === "" ? undefined : text;
};

export const asList = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);

export const asTexts = (value: unknown): ReadonlyArray<string> =>
  asList(value).filter((one): one is string => typeof one === "string");

export const asObjects = (value: unknown): ReadonlyArray<NativeObject> =>
  asList(value)
    .map(asObject)
    .filter((one) => one !== undefined);

/** A row of a table by a name that a runtime gave: never what every object inherits, such as `constructor`. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** A non-negative whole number. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const asInt = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

/** What the contracts take as an id. */
export const asId = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 512 && value.isWellFormed() && !control.test(value)
    ? value
    : undefined;

/** An event's id from the identities in its frame; none where they are too long together. */
export const eventId = (...parts: ReadonlyArray<string | number>): { readonly id?: string } => {
  const id = asId(parts.join("/"));
  return id === undefined ? {} : { id };
};

/** Milliseconds since 1970 as an instant; nothing for what is no time. */
export const asInstant = (millis: unknown): string | undefined => {
  if (typeof millis !== "number") return undefined;
  const date = new Date(millis);
  const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? date.toISOString() : undefined;
};

/** Fields that may be undefined become optional ones. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out what is undefined: absent is not the same as undefined in an event. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;

/** At most `units` UTF-16 code units, never cut inside a pair; an ellipsis stands for the rest. */
export const shorten = (text: string, units: number): string => {
  if (text.length <= units) return text;
  const end = units - 1;
  const last = text.charCodeAt(end - 1);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`;
};

/** The first line, shortened: a title. */
export const titleOf = (text: string): string | undefined => {
  const line = text
    .split("\n")
    .map((each) => each.trim())
    .find((each) => each !== "");
  return line === undefined ? undefined : shorten(line, 120);
};
