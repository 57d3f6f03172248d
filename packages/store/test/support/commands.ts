/** Commands as tests need them. */
import type { ClientCommandOf } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";

export const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor: { kind: "client", id: "device-1" },
  place: { projectId: "P", cwd: "/p" },
  root: { path: "/p", exists: true },
  instance: { known: true, refusedOptions: {} },
};

export const createThread = (threadId: string, commandId = `create-${threadId}`): ClientCommandOf<"thread.create"> => ({
  type: "thread.create",
  commandId,
  threadId,
  cwd: "/p",
  instance: "stub",
});

export const submit = (
  threadId: string,
  inputId: string,
  text = `text of ${inputId}`,
): ClientCommandOf<"input.submit"> => ({
  type: "input.submit",
  commandId: `submit-${threadId}-${inputId}`,
  threadId,
  inputId,
  text,
  delivery: "queue",
});

export const rename = (threadId: string, commandId: string, title: string): ClientCommandOf<"thread.rename"> => ({
  type: "thread.rename",
  commandId,
  threadId,
  title,
});
