/** One server with the instances of one driver, and the folders that they use. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../client/client.ts";
import type { Driver, DriverSource } from "../driver.ts";
import { noneLeft, processesOf, runVariable, type Process } from "./processes.ts";
import type { RunningServer, StartServer } from "./server.ts";

/** How long processes may take to be gone once something says that they are. */
const goneWithin = 10_000;

/** The variable whose value must not turn up anywhere. Its name says nothing: runtimes keep such as name a secret to themselves. */
export const canaryVariable = "CONFORMANCE_BIRD";

export class World {
  /** In the environment of every process of the instances. */
  readonly run = `run-${randomUUID()}`;
  /** A value that is in the environment of the instances, and must be in nothing that Tributary writes. */
  readonly canary = `canary-${randomUUID()}`;
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "conformance-")));
  readonly data = join(this.folder, "data");
  readonly work = join(this.folder, "work");
  readonly #startServer: StartServer;
  readonly #logs: Array<string> = [];
  #drivers: ReadonlyArray<Driver> = [];
  #server: RunningServer | undefined;
  #names = 0;

  constructor(startServer: StartServer) {
    this.#startServer = startServer;
  }

  async start(sources: ReadonlyArray<DriverSource>): Promise<ReadonlyArray<Driver>> {
    const env = { [runVariable]: this.run, [canaryVariable]: this.canary };
    mkdirSync(this.data, { mode: 0o700 });
    mkdirSync(this.work);
    const drivers: Array<Driver> = [];
    for (const source of sources) {
      const folder = join(this.folder, source.runtime);
      mkdirSync(folder);
      drivers.push(await source.start({ folder, env }));
    }
    const instances = drivers.flatMap(({ instances: { main, light = main, keyless, relayed, lost } }) =>
      [main, light, keyless, relayed, lost.instance].filter(
        (one, at, all) => all.findIndex(({ id }) => id === one.id) === at,
      ),
    );
    writeFileSync(join(this.data, "config.json"), JSON.stringify({ instances }), { mode: 0o600 });
    this.#server = await this.#startServer(this.data);
    await this.client.createProject(this.work);
    this.#drivers = drivers;
    return drivers;
  }

  get server(): RunningServer {
    if (this.#server === undefined) throw new Error("no server runs");
    return this.#server;
  }

  get client(): Client {
    return new Client(this.server.url, this.server.token);
  }

  /** What all servers of this world wrote. */
  get log(): string {
    return [...this.#logs, this.#server?.log() ?? ""].join("\n");
  }

  /** Ends the server in good order, and does not start another. */
  async stopServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    await server.stop();
    this.#logs.push(server.log());
  }

  /** KILL to the server, which then has no time for anything. */
  async killServer(): Promise<void> {
    const { process, log } = this.server;
    if (process === undefined) throw new Error("the server has no process of its own");
    this.#server = undefined;
    await process.kill();
    this.#logs.push(log());
  }

  async startServer(): Promise<void> {
    this.#server = await this.#startServer(this.data);
  }

  /** A new empty folder under the project's root. */
  makeFolder(name: string): string {
    this.#names += 1;
    const path = join(this.work, `${name}-${this.#names}`);
    mkdirSync(path);
    return path;
  }

  /** Unique in this world. */
  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}-${this.#names}`;
  }

  processes(): ReadonlyArray<Process> {
    return processesOf(this.run);
  }

  /** The runtime's own processes of a thread's folder: what the server itself started. */
  agents(cwd: string): ReadonlyArray<Process> {
    const server = this.server.process?.pid ?? process.pid;
    return this.processes().filter((one) => one.cwd === cwd && one.parent === server);
  }

  /** Resolves when none of the instances' processes in this folder runs any more; without one, when none runs at all. */
  async noneLeft(cwd?: string): Promise<void> {
    await noneLeft(() => this.processes().filter((one) => cwd === undefined || one.cwd === cwd), goneWithin);
  }

  /** Ends everything, and gives what still ran although the server had ended. */
  async stop(): Promise<ReadonlyArray<Process>> {
    await this.stopServer();
    const left = this.processes();
    for (const { pid } of left) killed(pid);
    for (const driver of this.#drivers) await driver.stop();
    rmSync(this.folder, { recursive: true, force: true });
    return left;
  }

  /** Brings back a server that a failed case left dead, and ends what it left running. */
  async recover(): Promise<void> {
    if (this.#server === undefined) await this.startServer();
    const own = this.processes().filter(({ parent }) => parent === (this.#server?.process?.pid ?? -1));
    for (const { pid } of own) killed(pid);
  }
}

const killed = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
};
