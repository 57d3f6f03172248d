/** What a case is, and what it gets to work with. */
import { randomUUID } from "node:crypto";
import type { Capabilities } from "@tributary/contracts";
import type { Driver, Prompts } from "./driver.ts";
import { Thread } from "./world/thread.ts";
import type { World } from "./world/world.ts";

/** What the server and the instance declare: the only grounds for leaving a case out. */
export interface Facts {
  readonly capabilities: Capabilities;
  /** The paths of the API. */
  readonly paths: ReadonlyArray<string>;
  /** Whether the server is a process of its own, which can be killed. */
  readonly isServerProcess: boolean;
}

export interface Case {
  readonly name: string;
  /** Part of every CI run. */
  readonly fast?: true;
  /** It looks at the agent's process, kills it, or has it start others. */
  readonly process?: true;
  /** Why it does not apply; absent: it applies everywhere. */
  readonly skip?: (facts: Facts) => string | undefined;
  readonly run: (stage: Stage) => Promise<void>;
}

export interface CaseGroup {
  readonly name: string;
  readonly cases: ReadonlyArray<Case>;
}

export interface ThreadOptions {
  /** Another instance than the main one. */
  readonly instance?: string;
  readonly [field: string]: unknown;
}

export class Stage {
  readonly world: World;
  readonly driver: Driver;
  readonly facts: Facts;
  readonly threads: Array<Thread> = [];
  /** What a thread is of, unless it says otherwise. */
  readonly #instance: string;

  constructor(world: World, driver: Driver, facts: Facts, needsProcess = true) {
    this.world = world;
    this.driver = driver;
    this.facts = facts;
    const { main, light = main } = driver.instances;
    this.#instance = (needsProcess ? main : light).id;
  }

  get prompts(): Prompts {
    return this.driver.prompts;
  }

  /** A new thread with a folder of its own, followed from its first event. */
  async thread(options: ThreadOptions = {}): Promise<Thread> {
    const { world, driver } = this;
    const thread = new Thread(world, driver, randomUUID(), world.makeFolder("thread"));
    const instance = options.instance ?? this.#instance;
    await thread.client.createThread({
      ...driver.thread,
      ...options,
      threadId: thread.id,
      cwd: thread.cwd,
      instance,
    });
    this.threads.push(thread);
    await thread.feed.connect(thread.client);
    return thread;
  }

  /**
   * Ends the server as `how` says and starts another one, to which every thread is connected again. In between, some
   * agents must have outlived the one that was killed, else nothing was shown about survivors.
   */
  restart(how: "stop" | "kill"): Promise<void> {
    return restartServer(this.world, this.threads, how);
  }

  /** Starts a server in the place of the stopped one, and connects every thread again. */
  resume(): Promise<void> {
    return resumeServer(this.world, this.threads);
  }
}

export const restartServer = async (
  world: World,
  threads: ReadonlyArray<Thread>,
  how: "stop" | "kill",
): Promise<void> => {
  await (how === "stop" ? world.stopServer() : world.killServer());
  const outliving = threads.filter(({ driver }) => how === "kill" && driver.outlivesHost === true);
  for (const { cwd } of outliving)
    if (!world.processes().some((one) => one.cwd === cwd)) throw new Error("no agent outlived the killed server");
  await resumeServer(world, threads);
};

const resumeServer = async (world: World, threads: ReadonlyArray<Thread>): Promise<void> => {
  // What was said until then is read to its end.
  await Promise.all(threads.map(({ feed }) => feed.over));
  await world.startServer();
  await Promise.all(threads.map((thread) => thread.feed.connect(thread.client)));
};

/** For cases that start another server in the place of a killed one. */
export const needsServerProcess = ({ isServerProcess }: Facts): string | undefined =>
  isServerProcess ? undefined : "the server under test is no process of its own";

export const needs =
  (has: (capabilities: Capabilities) => boolean, what: string) =>
  ({ capabilities }: Facts): string | undefined =>
    has(capabilities) ? undefined : `the instance declares no ${what}`;

export const needsApprovals = needs(({ approvals }) => approvals, "approvals");
