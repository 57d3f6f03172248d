/** The runtimes that this build knows: a line each. An adapter is loaded when it is first used. */
import type { Adapter } from "@tributary/contracts";

const adapters = {
  scripted: () => import("./scripted/index.ts").then(({ scripted }) => scripted),
} satisfies Readonly<Record<string, () => Promise<Adapter>>>;

/** Their names, in the order in which they are shown. */
export const runtimes: ReadonlyArray<string> = Object.keys(adapters);

/** The adapter of a runtime; undefined for a name that this build does not know. */
export const loadAdapter = (runtime: string): Promise<Adapter> | undefined =>
  Object.hasOwn(adapters, runtime) ? adapters[runtime as keyof typeof adapters]() : undefined;
