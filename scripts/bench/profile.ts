import { Session, type Profiler } from "node:inspector/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** `packages/store/src/x.ts`, `effect/Fiber.js`, `node:sqlite`, `(garbage collector)`. */
const placeOf = (url: string, functionName: string): string => {
  if (url === "") return functionName === "" ? "(native)" : functionName;
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  const module = path.split("/node_modules/").at(-1);
  return module !== undefined && module !== path ? module : path.replace(root, "");
};

/** The first two parts of a place in the repository, the package elsewhere. */
const partOf = (place: string): string =>
  place.startsWith("packages/") ? place.split("/").slice(0, 2).join("/") : (place.split("/")[0] ?? place);

/** Share of time by key, the largest first. */
const largest = (
  nodes: ReadonlyArray<Profiler.ProfileNode>,
  times: ReadonlyMap<number, number>,
  keyOf: (node: Profiler.ProfileNode) => string,
): ReadonlyArray<readonly [key: string, microseconds: number]> => {
  const sums = new Map<string, number>();
  for (const node of nodes) {
    const key = keyOf(node);
    sums.set(key, (sums.get(key) ?? 0) + (times.get(node.id) ?? 0));
  }
  return [...sums].toSorted(([, a], [, b]) => b - a);
};

/** Samples what runs while `work` does, and says by part and by function where the time went (own time, not callees'). */
export const profiled = async (work: () => Promise<unknown>): Promise<string> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 500 });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();

  const times = new Map<number, number>();
  const { samples = [], timeDeltas = [], nodes } = profile;
  // Starting and reading the profiler is not the work.
  const own = new Set(nodes.filter(({ callFrame }) => callFrame.url.startsWith("node:inspector")).map(({ id }) => id));
  for (const [index, id] of samples.entries())
    if (!own.has(id)) times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const line = ([key, time]: readonly [string, number]): string =>
    `  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${key}`;
  const place = ({ callFrame: { url, functionName } }: Profiler.ProfileNode) => placeOf(url, functionName);
  const byPart = largest(nodes, times, (node) => partOf(place(node)));
  const byFunction = largest(nodes, times, (node) => {
    const { functionName, lineNumber } = node.callFrame;
    return `${functionName === "" ? "(anonymous)" : functionName}  ${place(node)}:${lineNumber + 1}`;
  });
  return [...byPart.slice(0, 12).map(line), "", ...byFunction.slice(0, 25).map(line), ""].join("\n");
};
