/** Beginnings of texts, counted in UTF-16 code units. */

/** At most so many code units, no surrogate pair split. */
export const headOf = (text: string, units: number): string => {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  const next = text.charCodeAt(units);
  const splits = last >= 0xd800 && last <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
  return text.slice(0, splits ? units - 1 : units);
};

const longestTitle = 80;

/** The first line of a prompt, as the title of a thread that nobody named; undefined for one without words. */
export const promptTitle = (text: string): string | undefined => {
  const [line = ""] = headOf(text.trimStart(), 1024).split(/[\n\r\u2028\u2029]/);
  const words = line.replaceAll(/\s+/g, " ").trim();
  if (words === "") return undefined;
  return words.length <= longestTitle ? words : `${headOf(words, longestTitle - 1).trimEnd()}…`;
};
