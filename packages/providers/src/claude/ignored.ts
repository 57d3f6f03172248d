/**
 * Frames that are kept as records and make no event, each with the reason. What is neither here nor handled is unknown,
 * and shows up in diagnostics.
 */

const derived = "whether the session works or waits is derived from turns and requests";
const vendorUi = "state of the vendor's own apps";

/** Frames of the runtime: by `type`, or `system/<subtype>`. */
export const ignoredFrames: Readonly<Record<string, string>> = {
  keep_alive: "a heartbeat without content",
  tool_progress: "how long a call runs already; its item shows that it runs",
  tool_use_summary: "a summary of calls that are told one by one",
  prompt_suggestion: "what a person might say next, as the vendor guesses; not asked for",
  active_goal: "the vendor's own goals; what it does for them comes as turns",
  "system/thinking_tokens": "an estimate of tokens; the counts come with the result",
  "system/session_state_changed": derived,
  "system/background_tasks_changed": "the set of tasks whose beginning and end are told one by one",
  "system/memory_recall": "what the agent remembered of its own notes",
  "system/files_persisted": vendorUi,
  "system/mirror_error": "about a store for transcripts that is not used",
  "system/elicitation_complete": "the reply of the request that asked says it",
  "system/control_request_progress": "progress of a kind of call that is not made",
  "system/worker_shutting_down": "the end of the process says it",
  "system/ui_invalidate": vendorUi,
  "system/hook_progress": "what a hook printed so far; all of it comes with its end",
};

/** Requests of the runtime that no person can answer, by subtype. The adapter refuses them. */
export const ignoredRequests: Readonly<Record<string, string>> = {
  hook_callback: "of hooks inside the host, which are not registered; refused at once",
  mcp_message: "for MCP servers inside the host, which are not registered; refused at once",
  request_user_dialog: "a dialog of a kind that was not declared: it must not be answered (vendor schema)",
};
