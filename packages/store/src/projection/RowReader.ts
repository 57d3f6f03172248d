import { Context } from "effect";
import type { Cell, Connection } from "../sqlite/Connection.ts";
import { tableName } from "./tables.ts";

/** Synchronous reads of projection rows on the read connection, for page queries. Statements are prepared once and kept. */
export class RowReader extends Context.Service<
  RowReader,
  {
    /** Runs in one read snapshot; `{table}` in SQL names a projection's table. */
    readonly all: (sql: string, ...parameters: ReadonlyArray<Cell>) => ReadonlyArray<Record<string, Cell>>;
    readonly get: (sql: string, ...parameters: ReadonlyArray<Cell>) => Record<string, Cell> | undefined;
    /** Several reads that see one state, with the sequence that the state stands on. */
    readonly snapshot: <A>(read: (sequence: number) => A) => A;
  }
>()("tributary/store/RowReader") {}

/** Texts kept with their table names put in. Queries are written in code, so there are not many. */
const keptTexts = 1_000;

export const makeRowReader = (connection: Connection): RowReader["Service"] => {
  const texts = new Map<string, string>();
  const named = (sql: string): string => {
    const known = texts.get(sql);
    if (known !== undefined) return known;
    const text = sql.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (_, name: string) => tableName("live", name));
    if (texts.size >= keptTexts) texts.clear();
    texts.set(sql, text);
    return text;
  };
  const head = connection.prepare("SELECT max(sequence) AS head FROM events");
  return {
    all: (sql, ...parameters) => connection.prepare(named(sql)).all(...parameters),
    get: (sql, ...parameters) => connection.prepare(named(sql)).get(...parameters),
    snapshot: (read) => connection.snapshot(() => read(Number(head.get()?.["head"] ?? 0))),
  };
};
