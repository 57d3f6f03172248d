/** What a thread is called until somebody names it: the first line of its first prompt. Pure. */
import { headOf } from "./text-chunks.ts";

/** In UTF-16 code units. */
const longest = 80;

/** Undefined for a prompt without words. */
export const promptTitle = (text: string): string | undefined => {
  // No more than the beginning is looked at, however long the prompt is.
  const line = headOf(text.trimStart(), 0, 1024).split(/[\n\r\u2028\u2029]/)[0] ?? "";
  const words = line.replaceAll(/\s+/g, " ").trim();
  if (words === "") return undefined;
  return words.length <= longest ? words : `${headOf(words, 0, longest - 1).trimEnd()}…`;
};
