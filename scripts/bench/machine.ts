import { cpus, loadavg, platform, release, totalmem } from "node:os";

/** The machine that a figure was measured on: without it the figure says nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly system: string;
  readonly node: string;
  readonly sqlite: string;
  /** Work waiting per minute when the run began: well above 0 means that others were using the machine. */
  readonly load: number;
}

/** Describes this machine, now. */
export const thisMachine = (): Machine => {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    sqlite: process.versions["sqlite"] ?? "unknown",
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
};

/** The machine as one line. */
export const describeMachine = ({ cpu, cores, memoryMiB, system, node, sqlite, load }: Machine): string =>
  `${cpu}, ${cores} cores, ${memoryMiB} MiB, ${system}, Node ${node}, SQLite ${sqlite}, load ${load}`;
