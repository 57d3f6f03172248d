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
  const list = (close: string, item: () => void): void => {
    match(space);
    if (take(close)) return;
    for (;;) {
      item();
      match(space);
      if (take(close)) return;
      if (!take(",")) throw new Mistake(at, `"," or "${close}"`);
      match(space);
    }
  };
  const member = (): void => {
    if (!match(string)) throw new Mistake(at, "a field name in double quotes");
    match(space);
    if (!take(":")) throw new Mistake(at, `":"`);
    value();
  };
  const value = (): void => {
    match(space);
    if (take("{")) return list("}", member);
    if (take("[")) return list("]", value);
    if (match(string) || match(number) || literals.some(take)) return;
    throw new Mistake(at, "a value");
  };
  try {
    value();
    match(space);
    if (at < text.length) throw new Mistake(at, "the end of the file");
    return undefined;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return { line: before.length, column: (before.at(-1) ?? "").length + 1, expected: error.message };
  }
};
