/** What Ctrl-C does: the process is interrupted, unless a command has a better idea. */

type Handler = () => void;

let handler: Handler | undefined;

/** Called by the entry for SIGINT. False: nobody took it. */
export const takeInterrupt = (): boolean => {
  if (handler === undefined) return false;
  handler();
  return true;
};

/** Has SIGINT call `handle` from now on; returns what undoes that. */
export const onInterrupt = (handle: Handler): (() => void) => {
  handler = handle;
  return () => {
    if (handler === handle) handler = undefined;
  };
};
