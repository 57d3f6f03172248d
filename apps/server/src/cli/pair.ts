/** `tributary pair`: lets another device in. It shows a code, waits for who claims it, asks, and confirms. */
import type { AccessScope, Pairing, StartedPairing } from "@tributary/contracts/api";
import { AccessScope as AccessScopes } from "@tributary/contracts/api";
import { Effect, Schema, Terminal } from "effect";
import { renderUnicodeCompact } from "uqr";
import { writePrivateFile } from "../config/private-file.ts";
import { clientFailure, makeClient } from "./client.ts";
import type { Access } from "./client.ts";
import { connect, serverUrl } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { failure, usage } from "./failure.ts";
import { oneLine, print, printError, printJson } from "./output.ts";
import type { Target } from "./root.ts";

export interface PairOptions {
  readonly target: Target;
  /** Separated by commas. */
  readonly scopes: string | undefined;
  readonly name: string | undefined;
  /** Confirms whoever claims it first. */
  readonly yes: boolean;
}

const isScope = Schema.is(AccessScopes);

const readScopes = Effect.fnUntraced(function* (text: string) {
  const scopes: Array<AccessScope> = [];
  for (const word of text.split(",").map((part) => part.trim())) {
    if (!isScope(word))
      return yield* usage(`There is no scope “${oneLine(word)}”; there are ${AccessScopes.literals.join(", ")}.`);
    scopes.push(word);
  }
  return scopes;
});

/** What the picture says: all that the other device needs. */
export const qrText = ({ url, code, pin }: Pick<StartedPairing, "url" | "code" | "pin">): string =>
  JSON.stringify({ tributary: 1, url, code, ...(pin === undefined ? {} : { pin }) });

/** Light squares are drawn; a terminal that writes dark on light would turn them round, so the colours are said. */
const picture = (text: string): string => {
  const lines = renderUnicodeCompact(text, { ecc: "M", border: 2 }).split("\n");
  const isColoured = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
  return lines.map((line) => (isColoured ? `\u001b[97;40m${line}\u001b[0m\n` : `${line}\n`)).join("");
};

const isHere = (url: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\])/.test(url);

const show = Effect.fnUntraced(function* (started: StartedPairing) {
  const { code, url, pin, expiresAt } = started;
  yield* print(`${picture(qrText(started))}\n`);
  yield* print(
    `  code     ${code}\n  server   ${url}\n${pin === undefined ? "" : `  key pin  ${pin}\n`}  until    ${expiresAt}\n\n`,
  );
  if (isHere(url))
    yield* printError(
      "Only this machine reaches that address. For a phone, start the server with --tunnel URL, or with --host, --tls-cert and --tls-key.\n",
    );
});

const pause = "500 millis";

/** Looks until it is in none of the states. */
const whileIn = Effect.fnUntraced(function* (
  { client, access }: Connection,
  pairingId: string,
  states: ReadonlyArray<Pairing["state"]>,
) {
  for (;;) {
    const pairing = yield* Effect.mapError(client.pairings.get({ params: { pairingId } }), clientFailure(access));
    if (!states.includes(pairing.state)) return pairing;
    yield* Effect.sleep(pause);
  }
});

const agrees = Effect.fnUntraced(function* ({ claimedBy, scopes }: Pairing) {
  // What is known first, each on a line of its own: a name must not be able to say what the rest says.
  yield* printError(
    `A device has the code.\n  from       ${oneLine(claimedBy?.address ?? "an unknown address")}\n  would get  ${scopes.join(", ")}\n  is called  ${oneLine(claimedBy?.name ?? "(nothing)", 60)}, by its own word\n`,
  );
  for (;;) {
    yield* printError("Let it in? y/n> ");
    const line = yield* Terminal.Terminal.use((terminal) => terminal.readLine).pipe(
      Effect.mapError(() => failure("The terminal was closed: nobody was let in.")),
    );
    const said = line.trim().toLowerCase();
    if (said === "y" || said === "yes") return true;
    if (said === "n" || said === "no") return false;
  }
});

const outcome = (pairing: Pairing) => {
  switch (pairing.state) {
    case "collected":
      return undefined;
    case "refused":
      return failure("The device was refused.");
    default:
      return failure("Nobody was let in: the time is over. Start again with `tributary pair`.");
  }
};

/** Pairs one device; succeeds when that has its token. */
export const pair = Effect.fn("cli.pair")(function* ({ target, scopes: wanted, name, yes }: PairOptions) {
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!yes && !isInteractive)
    return yield* usage("Nobody is at a terminal to confirm: add --yes to let in whoever has the code first.");
  const scopes = wanted === undefined ? undefined : yield* readScopes(wanted);
  const connection = yield* connect(target, "nothing");
  const { client, access } = connection;
  const started = yield* client.pairings
    .start({ payload: { ...(scopes === undefined ? {} : { scopes }), ...(name === undefined ? {} : { name }) } })
    .pipe(Effect.mapError(clientFailure(access)));
  const params = { pairingId: started.pairingId };
  const decide = (decision: "confirm" | "refuse") =>
    Effect.mapError(client.pairings.decide({ params, payload: { decision } }), clientFailure(access));
  const paired = Effect.gen(function* () {
    yield* target.json ? printJson({ ...started, qr: qrText(started) }) : show(started);
    const claimed = yield* whileIn(connection, started.pairingId, ["waiting"]);
    if (claimed.state === "claimed") yield* decide(yes || (yield* agrees(claimed)) ? "confirm" : "refuse");
    return yield* whileIn(connection, started.pairingId, ["claimed", "confirmed"]);
  });
  // Who goes away lets nobody in.
  const ended = yield* Effect.onError(paired, () => Effect.ignore(decide("refuse")));
  if (target.json) yield* printJson(ended);
  const problem = outcome(ended);
  if (problem !== undefined) return yield* problem;
  if (!target.json)
    yield* print(`“${oneLine(name ?? ended.claimedBy?.name ?? "The device")}” is paired (${ended.deviceId ?? ""}).\n`);
}, Effect.scoped);

/** The other side: claims a pairing of a server and writes the token to a file, for `--token-file`. */
export const claim = Effect.fn("cli.pair.claim")(function* (target: Target, code: string, name: string | undefined) {
  const { server, tokenFile } = target;
  if (server === undefined || tokenFile === undefined)
    return yield* usage("Name the server with --server URL, and the file for the token with --token-file FILE.");
  const access: Access = { baseUrl: yield* serverUrl(server), token: "", fetch: globalThis.fetch };
  const client = yield* makeClient(access);
  const failed = clientFailure(access);
  const { pairingId, secret } = yield* client.claims
    .claim({ payload: { code, name: name ?? "command line" } })
    .pipe(Effect.mapError(failed));
  if (!target.json) yield* printError("Waiting until it is confirmed on the other side.\n");
  for (;;) {
    const collected = yield* client.claims
      .collect({ params: { pairingId }, payload: { secret, waitMs: 10_000 } })
      .pipe(Effect.mapError(failed));
    if (collected.state === "waiting") continue;
    if (collected.state !== "confirmed") return yield* failure(`The pairing is ${collected.state}: start a new one.`);
    const { token, ...device } = collected;
    yield* Effect.try({
      try: () => writePrivateFile(tokenFile, `${token}\n`),
      catch: (cause) => failure(`The token could not be written to ${tokenFile} (${String(cause)}): pair again.`),
    });
    return yield* target.json
      ? printJson({ ...device, tokenFile })
      : print(`Paired as ${device.deviceId} until ${device.expiresAt}; the token is in ${tokenFile}.\n`);
  }
}, Effect.scoped);
