/** The command `tributary` and the flags that every subcommand takes. */
import { Option } from "effect";
import { Command, Flag } from "effect/cli";

const optionalString = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

export const root = Command.make("tributary").pipe(
  Command.withDescription("One durable, resumable backend for every coding agent."),
  Command.withSharedFlags({
    data: optionalString("data", "DIR", "The data folder. Default: TRIBUTARY_DATA, else the user's data folder"),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for programs"), Flag.withDefault(false)),
    server: optionalString("server", "URL", "Talk to this server instead of the one of the data folder"),
    tokenFile: optionalString("token-file", "FILE", "Where the token for --server is. Default: the data folder's"),
  }),
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
