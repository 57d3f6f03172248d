/** Options that a runtime cannot honour are refused before it is asked (section 7). */
import { rejected } from "../answers.ts";
import type { Decision } from "../state.ts";

/** What a person can ask of a runtime, by the names that `refusedOptions` uses. */
interface Asked {
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly serviceTier?: string | undefined;
  readonly approvalMode?: string | undefined;
  readonly interactionMode?: string | undefined;
  readonly textDelivery?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly mcpServers?: ReadonlyArray<unknown> | undefined;
  readonly disallowedTools?: ReadonlyArray<unknown> | undefined;
  readonly resume?: unknown;
}

const names: ReadonlyArray<keyof Asked> = [
  "model",
  "effort",
  "serviceTier",
  "approvalMode",
  "interactionMode",
  "textDelivery",
  "systemPrompt",
  "mcpServers",
  "disallowedTools",
  "resume",
];

/** An empty list, or the interaction every runtime has, asks for nothing. */
const asksFor = (name: keyof Asked, value: unknown): boolean =>
  value !== undefined &&
  !(Array.isArray(value) && value.length === 0) &&
  !(name === "interactionMode" && value === "default");

/** The first asked option that the runtime refuses, as `unsupported_option` naming it and why. */
export const refusedOption = (
  asked: Asked,
  refusals: Readonly<Record<string, string>>,
): Extract<Decision, { readonly ok: false }> | undefined => {
  const option = names.find((name) => asksFor(name, asked[name]) && Object.hasOwn(refusals, name));
  if (option === undefined) return undefined;
  const reason = refusals[option] ?? "the runtime refuses it";
  return rejected("unsupported_option", `This runtime cannot honour ${option}: ${reason}. Leave it out`, {
    details: { option, reason },
  });
};
