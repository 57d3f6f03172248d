/** `tributary threads diagnostics`: what did not go as it should between an agent and its thread. */
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import { oneLine, print, printJson, table } from "./output.ts";
import type { Target } from "./root.ts";

const section = (title: string, lines: string): string => `${title}\n${lines}\n`;

const counts = (of: Readonly<Record<string, number>>): string =>
  table(
    Object.entries(of)
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => ["  ", oneLine(name, 80), String(count)]),
  );

/** Unknown, undecodable, refused and stalled, of one thread. */
export const showDiagnostics = Effect.fn("cli.threads.diagnostics")(function* (target: Target, threadId: string) {
  const { client, access } = yield* connect(target, "store");
  const found = yield* client.threads
    .diagnostics({ params: { threadId } })
    .pipe(Effect.mapError(clientFailure(access)));
  if (target.json) return yield* printJson(found);
  const { unknown, undecodable, refused, recent, stalled } = found;
  const parts = [
    ...(stalled.length === 0
      ? []
      : [section("Stalled: tried again and again", stalled.map((line) => `  ${line}\n`).join(""))]),
    ...(Object.keys(unknown).length === 0
      ? []
      : [section("Messages that this build does not know (kept in the journal)", counts(unknown))]),
    ...(undecodable === 0 ? [] : [section("Messages that could not be read", `  ${undecodable}\n`)]),
    ...(Object.keys(refused).length === 0 ? [] : [section("Refused, by reason", counts(refused))]),
    ...(recent.length === 0
      ? []
      : [
          section(
            "Refused last (`tributary journal show` has the records)",
            table(
              recent.map(({ generation, seq, type, reason, events = 1 }) => [
                "  ",
                `${generation}.${seq}`,
                type,
                reason,
                events === 1 ? "" : `${events} events`,
              ]),
            ),
          ),
        ]),
  ];
  return yield* print(parts.length === 0 ? "Nothing was unknown, refused or stalled.\n" : parts.join("\n"));
}, Effect.scoped);
