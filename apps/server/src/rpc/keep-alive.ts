/** WebSockets that find out whether anybody is still there: a peer that answers no ping is let go. */
import * as NodeWS from "@effect/platform-node/NodeWS";
import { limits } from "../http/limits.ts";

/** Pings without an answer after which nobody is there. */
const mostMissed = 3;

/** A class of sockets that ping. Browsers answer by themselves. */
const pinging = (everyMillis: number) =>
  class PingingSocket extends NodeWS.WebSocket {
    // The arguments are those of `ws`, which makes the sockets.
    constructor(...args: ConstructorParameters<typeof NodeWS.WebSocket>) {
      super(...args);
      let missed = 0;
      const heard = () => (missed = 0);
      const timer = setInterval(() => {
        if (missed >= mostMissed) return this.terminate();
        missed += 1;
        if (this.readyState === NodeWS.WebSocket.OPEN) this.ping();
      }, everyMillis);
      timer.unref();
      // Whatever arrives shows that somebody is there.
      this.on("pong", heard);
      this.on("message", heard);
      this.once("close", () => clearInterval(timer));
    }
  };

/** For the server that upgrades: what `ws` is told. */
export const webSocketOptions = (pingEveryMillis: number) => ({
  // Its constructor is the other's; the types of overloads can't say so.
  WebSocket: pinging(pingEveryMillis) as unknown as typeof NodeWS.WebSocket,
  maxPayload: limits.maxMessageBytes,
  // Compression costs memory for each connection, and text is small on a loopback or in a tunnel that compresses.
  perMessageDeflate: false,
});
