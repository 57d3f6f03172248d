/**
 * The approval policy (section 5): what is answered for the person. It acts where a runtime asks all the same, because its
 * own mode cannot do it.
 */
import type { DomainPayloads } from "@tributary/contracts";
import { isInside } from "./paths.ts";
import type { ThreadState } from "./state.ts";

type Asked = Pick<DomainPayloads["request.opened"], "kind" | "action" | "subject" | "options">;

/** Every path of the change is known, and inside the thread's cwd. */
const editsInside = (cwd: string, { action, subject }: Asked): boolean => {
  if (action !== "file_change" || subject === undefined || subject.truncated === true) return false;
  const changed = (subject.changes ?? []).flatMap(({ path, oldPath }) =>
    oldPath === undefined ? [path] : [path, oldPath],
  );
  const paths = [...(subject.paths ?? []), ...changed];
  return paths.length > 0 && paths.every((path) => isInside(cwd, path, subject.cwd));
};

/**
 * The option to answer with, or undefined: a person decides. Only ever an option that allows this once. Questions and
 * leaving plan mode are always for a person: nobody else knows the answer.
 */
export const approvalPolicy = (
  state: Pick<ThreadState, "approvalMode" | "cwd">,
  request: Asked,
): { readonly optionId: string } | undefined => {
  if (request.kind !== "approval" || request.action === "plan_exit") return undefined;
  const allowed =
    state.approvalMode === "full_access" || (state.approvalMode === "accept_edits" && editsInside(state.cwd, request));
  const option = allowed
    ? request.options?.find(({ effect, scope }) => effect === "allow" && scope === "once")
    : undefined;
  return option === undefined ? undefined : { optionId: option.id };
};
