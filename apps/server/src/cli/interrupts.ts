/** What signals do: they interrupt the command, unless it has a better idea. */

type Handler = () => void;
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const handlers = new Map<StopSignal, Handler>();

/** Called by the entry. False: nobody took it. */
export const takeSignal = (signal: StopSignal): boolean => {
  const handler = handlers.get(signal);
  handler?.();
  return handler !== undefined;
};

/** Has signals call `handle` from now on; returns what undoes that. */
export const onSignal = (signals: ReadonlyArray<StopSignal>, handle: Handler): (() => void) => {
  for (const signal of signals) handlers.set(signal, handle);
  return () => {
    for (const signal of signals) if (handlers.get(signal) === handle) handlers.delete(signal);
  };
};
