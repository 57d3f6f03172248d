/**
 * How a runtime is made to do something: the one thing in which instances differ for the suite. Everything else is the
 * public API, and what the instance declares there.
 */
import type { FailureClass, InstanceConfig, PlanStep } from "@tributary/contracts";
import type { Gate } from "./world/gates.ts";

/** A prompt, and exactly what the root agent says to it. */
export interface Said {
  readonly prompt: string;
  readonly text: string;
}

/** Ways in which a model service can fail a turn, and how each is told. */
export const failures = {
  "context overflow": "context_overflow",
  "401": "auth",
  "402": "quota",
  "429": "rate_limit",
  "500": "provider",
  "a stream that always breaks": "transport",
} as const satisfies Readonly<Record<string, FailureClass>>;
export type FailureName = keyof typeof failures;

export interface Prompts {
  /** Says these words. */
  readonly says: (words: string) => Said;
  readonly text: Said;
  readonly unicode: Said;
  readonly huge: (length: number) => Said;
  /** An answer without content. */
  readonly empty: Said;
  readonly reasoning: Said & { readonly reasoning: string };
  /** `before`, then waits at the gate, then the rest. */
  readonly gate: (name: string) => Said & { readonly before: string };
  /** Asks to run a command, and runs it when it is allowed. `rejected`: the text when it is not. */
  readonly shell: (command: string) => Said & { readonly rejected: string };
  /** The same command once more, after it was allowed for the session. */
  readonly shellAgain: (command: string) => Said;
  /** A turn that asks, as `shell`, and takes in what is steered meanwhile: it goes on with `steered`. */
  readonly steerable: (command: string) => Said & { readonly steered: string };
  /** Makes a file, then changes it; asks before. `diff`: lines that the change's diff must have. */
  readonly write: (path: string) => Said & { readonly content: string; readonly diff: ReadonlyArray<string> };
  readonly edit: (path: string) => Said & { readonly content: string; readonly diff: ReadonlyArray<string> };
  /** Asks one question with options and says what was answered. `says`: part of that. */
  readonly question: {
    readonly prompt: string;
    readonly choice: string;
    readonly says: string;
    /** Where the runtime asks only then. */
    readonly interactionMode?: "plan";
  };
  readonly plan: Said & { readonly stages: ReadonlyArray<ReadonlyArray<PlanStep>> };
  /** A sub-agent that says `child`. */
  readonly subAgent: Said & { readonly child: string };
  /** A sub-agent that asks to run a command. */
  readonly subAgentShell: (command: string) => { readonly prompt: string };
  readonly fails: Readonly<Record<FailureName, string>>;
  /** The stream breaks once and is tried again: the text must stand there once. */
  readonly brokenOnce: Said;
  /** Says how many user messages the runtime remembers; absent where the program has no memory to show. */
  readonly memory?: { readonly prompt: string; readonly count: (text: string) => number };
}

/** The instances that a driver configures, by what they are for. */
export interface Instances {
  readonly main: InstanceConfig;
  /** The same agent without a process of its own, for cases that need none; absent: it always has one. */
  readonly light?: InstanceConfig;
  /** Without the key that its model service wants. */
  readonly keyless: InstanceConfig;
  /** Like `main`, behind a relay (`relay.mjs`) that closes the program's stdin on SIGUSR2. */
  readonly relayed: InstanceConfig;
  /** An instance, and a native session id of it that can't be resumed. */
  readonly lost: { readonly instance: InstanceConfig; readonly nativeSessionId: string };
}

export interface DriverSetup {
  /** A folder of the run, for homes, scripts and sockets; outside of the data folder. */
  readonly folder: string;
  /** What every instance's environment must have. */
  readonly env: Readonly<Record<string, string>>;
}

/** A driver at work. */
export interface Driver {
  readonly instances: Instances;
  readonly prompts: Prompts;
  /** Fields that every new thread gets. */
  readonly thread?: Readonly<Record<string, string>>;
  /** A model that can be asked for by name, and effort levels, where the runtime has a choice. */
  readonly model?: string;
  readonly effort?: string;
  /** Its programs live on when their host is killed. */
  readonly outlivesHost?: boolean;
  readonly gate: (name: string) => Promise<Gate>;
  /** After each case. */
  readonly reset: () => void;
  /** What left the runtime: URLs that were asked for. */
  readonly urls: () => ReadonlyArray<string>;
  readonly stop: () => Promise<void>;
}

export interface DriverSource {
  readonly runtime: string;
  /** The program's version that the suite was seen to pass with. */
  readonly pin: string;
  readonly start: (setup: DriverSetup) => Promise<Driver>;
}
