/** Commands that care for the data folder: rebuild, backup, prune, doctor. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Effect, Exit } from "effect";
import { configFile } from "../config/Configuration.ts";
import { locateDataFolder } from "../config/data-folder.ts";
import { parseConfig } from "../config/schema.ts";
import { tokenFile } from "../config/token.ts";
import { findServer } from "../server-file.ts";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import { asFailure, failure, usage } from "./failure.ts";
import type { CliFailure } from "./failure.ts";
import { oneLine, print, printJson } from "./output.ts";
import type { Target } from "./root.ts";

export const rebuild = Effect.fn("cli.rebuild")(function* (target: Target) {
  const { client, access } = yield* connect(target, "store");
  const done = yield* client.maintenance.rebuild().pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(done) : print(`Rebuilt from ${done.sequence} events.\n`);
}, Effect.scoped);

export const backup = Effect.fn("cli.backup")(function* (target: Target, dir: string) {
  const { client, access } = yield* connect(target, "store");
  const done = yield* client.maintenance
    .backup({ payload: { dir: resolve(dir) } })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json
    ? printJson(done)
    : print(`Copied to ${done.dir}. Open it with --data ${done.dir}; token and configuration are not part of it.\n`);
}, Effect.scoped);

export const pruneJournal = Effect.fn("cli.journal.prune")(function* (
  target: Target,
  { days, megabytes }: { readonly days: number | undefined; readonly megabytes: number | undefined },
) {
  if (days === undefined && megabytes === undefined)
    return yield* usage(
      "Say what may go: --days N (older than N days), --megabytes N (until it takes no more), or both.",
    );
  const { client, access } = yield* connect(target, "store");
  const done = yield* client.maintenance
    .prune({
      payload: {
        ...(days === undefined ? {} : { olderThanDays: days }),
        ...(megabytes === undefined ? {} : { maxBytes: megabytes * 1024 * 1024 }),
      },
    })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(done) : print(`Let go of ${done.records} records, ${done.bytes} bytes.\n`);
}, Effect.scoped);

interface Finding {
  readonly ok: boolean;
  readonly what: string;
}

const good = (what: string): Finding => ({ ok: true, what });
const bad = (what: string): Finding => ({ ok: false, what });

/** Files that others must not be able to read. */
const privacy = (path: string): ReadonlyArray<Finding> => {
  if (!existsSync(path) || process.platform === "win32") return [];
  const open = statSync(path).mode & 0o077;
  return [open === 0 ? good(`${path} is yours alone`) : bad(`${path} can be read by others: chmod go= ${path}`)];
};

const configuration = (dir: string): ReadonlyArray<Finding> => {
  const path = configFile(dir);
  if (!existsSync(path)) return [good(`${path} is not there yet: defaults are in force`)];
  const parsed = parseConfig(readFileSync(path, "utf8"));
  return ["config" in parsed ? good(`${path} is well formed`) : bad(`${path}: ${parsed.problem}`)];
};

/** What can be asked through the API, of a server or of the store opened here. */
const inside = Effect.fnUntraced(function* (target: Target) {
  const { client, access, via } = yield* connect(target, "store");
  const { problems, differences } = yield* client.maintenance.check().pipe(Effect.mapError(clientFailure(access)));
  const { instances } = yield* client.instances.list().pipe(Effect.mapError(clientFailure(access)));
  return [
    good(via === "server" ? `the server at ${access.baseUrl} answers` : "the store opens"),
    ...(problems.length === 0 ? [good("its files are whole")] : problems.map(bad)),
    ...(differences.length === 0
      ? [good("lists and pages are what the log says")]
      : [
          bad(
            `${differences.length} rows are not what the log says (${differences[0]?.table}): run \`tributary rebuild\``,
          ),
        ]),
    ...instances.map(({ id, installation: { available, version, problem } }) =>
      good(available ? `${id}: ${version ?? "ready"}` : `${id}: not available (${oneLine(problem ?? "", 200)})`),
    ),
  ];
}, Effect.scoped);

/** Looks at everything and says what to do. Fails when something is wrong. */
export const doctor = Effect.fn("cli.doctor")(function* (target: Target): Effect.fn.Return<void, CliFailure> {
  const dir = yield* Effect.mapError(locateDataFolder(target.data), asFailure);
  const running = findServer(dir);
  const looked = yield* Effect.exit(inside(target));
  const findings = [
    ...(running === undefined ? [good(`no server runs for ${dir}`)] : [good(`a server runs: process ${running.pid}`)]),
    ...privacy(dir),
    ...privacy(tokenFile(dir)),
    ...configuration(dir),
    ...(Exit.isSuccess(looked)
      ? looked.value
      : looked.cause.reasons.map((reason) => bad(reason._tag === "Fail" ? reason.error.message : String(reason)))),
  ];
  if (target.json) yield* printJson({ findings });
  else yield* print(findings.map(({ ok, what }) => `${ok ? "✓" : "✗"} ${what}\n`).join(""));
  const wrong = findings.filter(({ ok }) => !ok).length;
  if (wrong > 0) return yield* failure(`${wrong} of ${findings.length} things need care.`);
});
