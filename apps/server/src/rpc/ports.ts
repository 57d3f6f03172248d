/**
 * MessagePorts: two ends of one process or of two, such as a window's and the main process's of Electron. Loads in a
 * browser. Messages are the protocol's, as objects.
 */

/** What the ports of browsers, of Node and of Electron's main process have in common. */
export interface Port {
  readonly postMessage: (message: unknown) => void;
  readonly close: () => void;
  readonly start?: () => void;
}

type Listener = (event: { readonly data: unknown }) => void;

interface Target {
  readonly addEventListener: (type: string, listener: Listener) => void;
  readonly removeEventListener: (type: string, listener: Listener) => void;
}
interface Emitter {
  readonly on: (type: string, listener: Listener) => unknown;
  readonly off: (type: string, listener: Listener) => unknown;
}

const isTarget = (port: object): port is Target => "addEventListener" in port;

/** Hears what the other end sends, and that it closed; undone by the result. */
export const listenTo = (port: Port, onMessage: (message: unknown) => void, onClose: () => void): (() => void) => {
  const message: Listener = ({ data }) => onMessage(data);
  // Electron's ports in the main process are emitters; those of browsers and of Node are event targets.
  const [add, remove] = isTarget(port)
    ? [port.addEventListener.bind(port), port.removeEventListener.bind(port)]
    : [(port as Port & Emitter).on.bind(port), (port as Port & Emitter).off.bind(port)];
  add("message", message);
  add("close", onClose);
  port.start?.();
  return () => {
    remove("message", message);
    remove("close", onClose);
  };
};
