import type { Rejection, RejectionCode, UserAction } from "./commands.ts";

/** Default next step of each refusal, and whether sending the same again can act twice. */
const defaults: { readonly [C in RejectionCode]: readonly [UserAction, "safe" | "unsafe"] } = {
  busy: ["wait", "safe"],
  no_active_turn: ["none", "safe"],
  not_queued: ["none", "safe"],
  unsupported: ["none", "safe"],
  unsupported_option: ["none", "safe"],
  thread_not_found: ["new_thread", "safe"],
  thread_archived: ["none", "safe"],
  thread_deleted: ["new_thread", "safe"],
  thread_exists: ["none", "safe"],
  input_exists: ["none", "unsafe"],
  project_not_found: ["none", "safe"],
  project_exists: ["none", "safe"],
  project_in_use: ["none", "safe"],
  cwd_outside_roots: ["none", "safe"],
  cwd_missing: ["none", "safe"],
  cwd_immutable: ["new_thread", "safe"],
  unknown_request: ["none", "safe"],
  already_answered: ["none", "safe"],
  request_expired: ["none", "safe"],
  request_changed: ["retry", "safe"],
  invalid_answer: ["retry", "safe"],
  runtime_unavailable: ["retry", "safe"],
  runtime_refused: ["retry", "safe"],
  runtime_exited: ["retry", "unsafe"],
  session_unavailable: ["new_thread", "safe"],
  attachment_not_found: ["retry", "safe"],
  command_id_conflict: ["none", "unsafe"],
  storage_full: ["retry", "safe"],
};

/** Makes a refusal with its code's usual next step; `over` changes what is special about this one. */
export const reject = (
  code: RejectionCode,
  message: string,
  over: Partial<Omit<Rejection, "code" | "message">> = {},
): Rejection => ({ code, message, userAction: defaults[code][0], resend: defaults[code][1], ...over });
