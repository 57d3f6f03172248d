/** The command `tributary` and the flags that every subcommand takes. */
import { Option } from "effect";
import { Command, Flag } from "effect/cli";

const optionalString = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

export const root = Command.make("tributary").pipe(
  Command.withDescription(
    "One durable, resumable backend for every coding agent. " +
      "Exit codes: 0 it succeeded (run: the turn completed), 1 it failed, 2 it was called wrongly, " +
      "130 it was interrupted (also: the turn was), 129 and 143 it was hung up or terminated.",
  ),
  Command.withSharedFlags({
    data: optionalString("data", "DIR", "The data folder. Default: TRIBUTARY_DATA, else the user's data folder"),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for programs"), Flag.withDefault(false)),
    server: optionalString("server", "URL", "Talk to this server instead of the one of the data folder"),
    tokenFile: optionalString("token-file", "FILE", "Where the token for --server is. Default: the data folder's"),
  }),
);

/** Files that go along with an input. */
export const attachFlag = Flag.File("attach", { mustExist: false }).pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("A file that goes along, repeatable: an image, a PDF, text. Agents say what they can't take"),
  Flag.atLeast(0),
);

/** What the shared flags said. */
export interface Target {
  readonly data: string | undefined;
  readonly json: boolean;
  readonly server: string | undefined;
  readonly tokenFile: string | undefined;
}

export const targetOf = (flags: {
  readonly data: Option.Option<string>;
  readonly json: boolean;
  readonly server: Option.Option<string>;
  readonly tokenFile: Option.Option<string>;
}): Target => ({
  data: Option.getOrUndefined(flags.data),
  json: flags.json,
  server: Option.getOrUndefined(flags.server),
  tokenFile: Option.getOrUndefined(flags.tokenFile),
});
