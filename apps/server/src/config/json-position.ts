/**
 * Where a text stops being JSON. V8's messages name a position only for some mistakes, and a person who broke a
 * configuration file needs the line.
 */
export interface JsonMistake {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  readonly expected: string;
}

class Mistake extends Error {
  readonly at: number;
  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const space = /[ \t\r\n]*/y;
const literals = ["true", "false", "null"] as const;

/** The first mistake, or undefined for a text that is JSON. */
export const jsonMistake = (text: string): JsonMistake | undefined => {
  let at = 0;
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  /** Closing brackets of what is open. No recursion: how deep a text goes is the sender's choice. */
  const open: Array<string> = [];
  const name = (): void => {
    if (!match(string)) throw new Mistake(at, "a field name in double quotes");
    match(space);
    if (!take(":")) throw new Mistake(at, `":"`);
  };
  /** Goes into a list or an object up to its first value; false when it is empty and over. */
  const enter = (close: string): boolean => {
    match(space);
    if (take(close)) return false;
    if (close === "}") name();
    open.push(close);
    return true;
  };
  /** Behind a value: on to the next one; false when there is none. */
  const next = (): boolean => {
    for (let close = open.at(-1); close !== undefined; close = open.at(-1)) {
      match(space);
      if (!take(close)) {
        if (!take(",")) throw new Mistake(at, `"," or "${close}"`);
        match(space);
        if (close === "}") name();
        return true;
      }
      open.pop();
    }
    return false;
  };
  /** One value, or the beginning of one; true when another one has to follow at once. */
  const value = (): boolean => {
    match(space);
    if (take("{")) return enter("}");
    if (take("[")) return enter("]");
    if (match(string) || match(number) || literals.some(take)) return false;
    throw new Mistake(at, "a value");
  };
  try {
    let more = true;
    while (more) more = value() || next();
    match(space);
    if (at < text.length) throw new Mistake(at, "the end of the file");
    return undefined;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return { line: before.length, column: (before.at(-1) ?? "").length + 1, expected: error.message };
  }
};
