/** Gates of scripts: Unix sockets that a scripted turn waits at. */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

/** Holds a turn in the middle of its text. */
export interface Gate {
  /** A turn stands at it. */
  readonly held: Promise<void>;
  /** Lets it go on. */
  readonly release: () => void;
}

/** The sockets of one driver, by name, in a folder. */
export class SocketGates {
  readonly #dir: string;
  readonly #open = new Map<Server, Set<Socket>>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  async make(name: string): Promise<Gate> {
    const sockets = new Set<Socket>();
    const server = createServer();
    this.#open.set(server, sockets);
    const held = new Promise<void>((resolve) => {
      server.on("connection", (socket) => {
        sockets.add(socket);
        // A runtime that is killed at the gate resets the connection.
        socket.on("error", () => {});
        socket.resume();
        resolve();
      });
    });
    server.listen(join(this.#dir, `${name}.sock`));
    await once(server, "listening");
    return {
      held,
      release: () => {
        for (const socket of sockets) socket.end();
      },
    };
  }

  /** Takes all gates away. */
  clear(): void {
    for (const [server, sockets] of this.#open) {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
    this.#open.clear();
  }
}
