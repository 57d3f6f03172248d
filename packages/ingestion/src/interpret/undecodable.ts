/**
 * Canonical events that do not fit their schema. The journal keeps such an event as an `unknown` one with a mark of ours
 * in `ext`, so that interpreting it again comes to the same refusal (I5); its frame is in the same record.
 */
import type { RuntimeEvent, RuntimeEventOf, Undecodable } from "@tributary/contracts";
import { Predicate } from "effect";
import { headAndTail } from "./caps.ts";

const owner = "tributary";
/** `ext` holds at most 4 KiB. */
const problemBytes = 1_024;
const eventBytes = 2_048;

const json = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
};

export const markUndecodable = ({ problem, type }: Undecodable, event: unknown): RuntimeEventOf<"unknown"> => ({
  type: "unknown",
  payload: { kind: "undecodable" },
  ext: {
    [owner]: {
      undecodable: (type ?? "unknown").slice(0, 128),
      problem: headAndTail(problem, problemBytes),
      event: headAndTail(json(event), eventBytes),
    },
  },
});

/** What an undecodable event claimed to be, and what is wrong with it; undefined for every other event. */
export const undecodableMark = (
  event: RuntimeEvent,
): { readonly type: string; readonly problem: string } | undefined => {
  if (event.type !== "unknown") return undefined;
  const mark = event.ext?.[owner];
  if (!Predicate.hasProperty(mark, "undecodable") || !Predicate.isString(mark.undecodable)) return undefined;
  const problem = Predicate.hasProperty(mark, "problem") && Predicate.isString(mark.problem) ? mark.problem : "";
  return { type: mark.undecodable, problem };
};
