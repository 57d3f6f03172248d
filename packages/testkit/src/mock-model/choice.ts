import { isAskedAgain, roundsSinceLastUser, userMessages, type Conversation } from "./conversation.ts";
import { markerOf } from "./marker.ts";
import type { Reply } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { askedAgainText, noMarkerText, overText } from "./texts.ts";

/** The reply to one request, and how it was found. */
export interface Choice {
  readonly scenario: string;
  readonly arg: string;
  readonly step: number;
  readonly reply: Reply;
}

const saying = (text: string): Reply => ({ parts: [{ kind: "text", text }] });

/**
 * Which reply a request gets: the scenario from the marker in the last user message, the step from the rounds of tool
 * results that follow it. Nothing is remembered between requests, so a resumed or a forked conversation goes on right.
 */
export const choose = (conversation: Conversation): Choice => {
  const message = userMessages(conversation).at(-1) ?? "";
  const marker = markerOf(message);
  const step = roundsSinceLastUser(conversation);
  if (marker === undefined) return { scenario: "", arg: "", step, reply: saying(noMarkerText) };
  const chosen = { scenario: marker.name, arg: marker.arg, step };
  if (isAskedAgain(conversation)) return { ...chosen, reply: saying(askedAgainText) };
  const scenario = Object.hasOwn(scenarios, marker.name) ? scenarios[marker.name] : undefined;
  if (scenario === undefined) {
    const names = Object.keys(scenarios).join(", ");
    return { ...chosen, reply: saying(`The mock model has no scenario "${marker.name}". It has: ${names}.`) };
  }
  const reply = scenario.replies(marker.arg, conversation)[step];
  return { ...chosen, reply: reply ?? saying(overText) };
};
