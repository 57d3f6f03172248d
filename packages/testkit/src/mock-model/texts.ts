/** The texts that the mock says, so that a test can compare a message with them exactly. */

export const plainText =
  "Hello from the mock model. This answer comes in several pieces, and every one of them has to arrive.\n" +
  "It has a second line with `code`, **bold** and a trailing newline.\n";

/** Emoji with joiners and skin tones, combining marks, line separators, right-to-left text, no-break spaces. */
export const unicodeText = [
  "emoji: 😀 👩🏽‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇪🇺",
  "combining: e\u0301 n\u0303 \u1112\u1161\u11ab Z\u0351\u036b\u0343a\u0321\u034al\u034bg\u0356o\u0308",
  "separators: a\u2028b\u2029c\u0085d\u00a0e\u200bf\ufeffg",
  "right to left: שלום עולם, مرحبا بالعالم \u202Eoverride\u202C",
  "beyond the basic plane: 𝒳 𠜎 𐍈, and quotes: \" \\ ' ` </script> \t tab",
].join("\n");

export const reasoningText = "First I look at what was asked. Then I think about it. Then I know what to say.";
export const afterReasoningText = "I have thought about it.";
export const beforeToolText = "I will use a tool.";
export const beforeTwoToolsText = "Two at once.";
export const afterToolText = "That is all.";
export const afterPlanText = "The plan is done.";
export const proposedPlanText = "# A plan\n\n1. Look at the code.\n2. Change it.\n3. Test it.\n";
export const noMarkerText = "There is no scenario marker in this message.";
export const askedAgainText = "Noted.";
export const overText = "There is nothing more to do.";
export const writtenText = "hello from the mock model\n";
export const editedText = "goodbye from the mock model\n";

/** What `[[echo]]` says: proof that the history is in the request. */
export const echoText = (userMessages: ReadonlyArray<string>): string =>
  `${userMessages.length} user messages; the last one: ${userMessages.at(-1) ?? ""}`;

/** What `[[question]]` says when it was answered. */
export const answeredText = (result: string): string => `You answered: ${result}`;

/** Exactly `length` UTF-16 code units of numbered lines: a lost, repeated or reordered piece shows where it was. */
export const hugeText = (length: number): string => {
  const lines: Array<string> = [];
  for (let size = 0, line = 1; size < length; line += 1) {
    const text = `${String(line).padStart(7, "0")} the quick brown fox jumps over the lazy dog 0123456789\n`;
    lines.push(text);
    size += text.length;
  }
  return lines.join("").slice(0, length);
};

/** `count` numbered words, what `[[slow:count,delay]]` says piece by piece. */
export const slowText = (count: number): string =>
  Array.from({ length: count }, (_, index) => slowPiece(index)).join("");

/** One piece of {@link slowText}, always 8 code units long. */
const slowPiece = (index: number): string => `word${String(index % 1000).padStart(3, "0")} `;

/** Splits into pieces of about `size` code units, never inside a surrogate pair. */
export const pieces = (text: string, size: number): ReadonlyArray<string> => {
  const result: Array<string> = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + size);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end += 1;
    result.push(text.slice(start, end));
    start = end;
  }
  return result;
};
