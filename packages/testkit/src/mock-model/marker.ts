/** `[[name]]` or `[[name:arg]]` in a user message: which scenario the mock plays. */
export interface Marker {
  readonly name: string;
  readonly arg: string;
}

const opening = /\[\[([a-z][a-z0-9_]*)/g;

/** The end of a marker that opens at `start`: brackets nest, so a shell test inside an argument stays whole. */
const closingOf = (text: string, start: number): number => {
  let depth = 0;
  for (let at = start; at < text.length - 1; at += 1) {
    const pair = text.slice(at, at + 2);
    if (pair === "[[") depth += 1;
    if (pair === "]]") depth -= 1;
    if (pair !== "[[" && pair !== "]]") continue;
    if (depth === 0) return at;
    at += 1;
  }
  return -1;
};

/** The last outermost marker of a text, if it has one. */
export const markerOf = (text: string): Marker | undefined => {
  let found: Marker | undefined;
  opening.lastIndex = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const name = match[1] ?? "";
    const end = closingOf(text, match.index);
    const rest = end < 0 ? undefined : text.slice(match.index + 2 + name.length, end);
    if (rest === "" || rest?.startsWith(":") === true) {
      found = { name, arg: rest.slice(1) };
      opening.lastIndex = end + 2;
    }
  }
  return found;
};
