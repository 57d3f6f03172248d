/** Model, effort and permission mode as the runtime says them back. */
import { defined } from "../native.ts";
import { nothing, type Said, say } from "./said.ts";
import type { ClaudeState } from "./state.ts";

export const modelConfigured = (
  state: ClaudeState,
  read: { readonly model?: string; readonly effort?: string },
): Said => {
  const changed = defined({
    model: read.model === state.model ? undefined : read.model,
    effort: read.effort === state.effort ? undefined : read.effort,
  });
  if (Object.keys(changed).length === 0) return nothing(state);
  return { state: { ...state, ...changed }, events: [say("session.configured", {}, changed)] };
};

/** Modes that a session can be switched to (2.1.332); leaving out the checks needs a session that was started for it. */
const modes = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];

export const modeConfigured = (state: ClaudeState, mode: string | undefined): Said => {
  if (mode === undefined || mode === "" || mode === state.mode) return nothing(state);
  const option = {
    id: "permissionMode",
    category: "mode",
    label: "Permission mode",
    value: mode,
    choices: modes,
  } as const;
  return { state: { ...state, mode }, events: [say("session.configured", {}, { options: [option] })] };
};
