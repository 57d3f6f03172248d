/** The subcommands about other devices. What they do is loaded when they are called. */
import { Effect, Option } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { root, targetOf } from "./root.ts";
import type { Target } from "./root.ts";

const using = <M, A, E, R>(load: () => Promise<M>, act: (module: M, target: Target) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(root, (flags) => Effect.flatMap(Effect.promise(load), (module) => act(module, targetOf(flags))));

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);
const unwrap = Option.getOrUndefined;

const pairing = () => import("./pair.ts");
const devicesModule = () => import("./devices.ts");

export const pair = Command.make(
  "pair",
  {
    name: optional("name", "TEXT", "What the device will be called. Default: what it says of itself"),
    scopes: optional(
      "scopes",
      "LIST",
      "What it may do: observe, answer, operate, diagnose, admin, separated by commas. Default: observe,answer,operate",
    ),
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Let in whoever has the code first, without asking"),
      Flag.withDefault(false),
    ),
  },
  ({ name, scopes, yes }) =>
    using(pairing, (it, target) => it.pair({ target, name: unwrap(name), scopes: unwrap(scopes), yes })),
).pipe(
  Command.withDescription("Let another device in: shows a code and a QR picture, and asks before it gets a token"),
  Command.withSubcommands([
    Command.make(
      "claim",
      {
        code: Argument.String("code").pipe(Argument.withDescription("The code that the other machine shows")),
        name: optional("name", "TEXT", "What this machine calls itself"),
      },
      ({ code, name }) => using(pairing, (it, target) => it.claim(target, code, unwrap(name))),
    ).pipe(
      Command.withDescription("The other side: get a token of --server and write it to --token-file"),
      Command.withExamples([
        {
          command: "tributary pair claim K7QMD-2X9TA --server https://laptop:4417 --token-file laptop.token",
          description: "On the second machine",
        },
      ]),
    ),
  ]),
);

const list = () => using(devicesModule, (it, target) => it.listDevices(target));

export const devices = Command.make("devices", {}, list).pipe(
  Command.withDescription("List paired devices"),
  Command.withSubcommands([
    Command.make("list", {}, list).pipe(Command.withDescription("The same")),
    Command.make(
      "revoke",
      { device: Argument.String("device").pipe(Argument.withDescription("A device's id")) },
      ({ device }) => using(devicesModule, (it, target) => it.revokeDevice(target, device)),
    ).pipe(Command.withDescription("End a device's token at once")),
    Command.make(
      "audit",
      { limit: Flag.Int("limit").pipe(Flag.withDescription("How many entries"), Flag.withDefault(100)) },
      ({ limit }) => using(devicesModule, (it, target) => it.audit(target, limit)),
    ).pipe(Command.withDescription("Who was let in, who was not, and who decided it")),
  ]),
);
