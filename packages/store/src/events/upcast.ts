/**
 * Old payloads are raised to this build's shape when they are read; history is not rewritten. A type this build does not
 * know stays as it is (I18).
 */
import { schemaVersion } from "@tributary/contracts";

/** From the version that is its key to the next. */
export type Upcaster = (payload: unknown) => unknown;

/** By event type, then by the version it raises. */
export type Upcasters = Readonly<Record<string, Readonly<Record<number, Upcaster>>>>;

/** None yet: every payload is of version 1. */
export const upcasters: Upcasters = {};

/** Whether a stored payload is of the shape that this build knows, or of a newer one. */
export const isCurrent = (type: string, version: number, known: Upcasters = upcasters): boolean =>
  known[type] === undefined || version >= schemaVersion;

/** The payload as this build knows it, and its version. One from a newer build stays as it is. */
export const upcast = (
  type: string,
  version: number,
  payload: unknown,
  known: Upcasters = upcasters,
): { readonly payload: unknown; readonly schemaVersion: number } => {
  const steps = known[type];
  if (steps === undefined || isCurrent(type, version, known)) return { payload, schemaVersion: version };
  let raised = payload;
  let at = version;
  for (; at < schemaVersion; at += 1) raised = steps[at]?.(raised) ?? raised;
  return { payload: raised, schemaVersion: at };
};
