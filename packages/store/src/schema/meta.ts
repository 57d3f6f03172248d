import type { Connection } from "../sqlite/Connection.ts";

/** Facts about the data folder itself. `epoch` identifies its log. */
export type MetaName = "epoch" | "projection" | "projection_build";

export const readMeta = (connection: Connection, name: MetaName): string | undefined => {
  const value = connection.prepare("SELECT value FROM meta WHERE name = ?").get(name)?.["value"];
  return typeof value === "string" ? value : undefined;
};

export const writeMeta = (connection: Connection, name: MetaName, value: string): void => {
  connection
    .prepare("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    .run(name, value);
};
