/** The subcommands about threads, their inputs, queue and session. What they do is loaded when they are called. */
import { Effect, Option } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { attachFlag, root, targetOf } from "./root.ts";
import type { Target } from "./root.ts";

type Module = typeof import("./thread-commands.ts");

const using = <A, E, R>(act: (module: Module, target: Target) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(root, (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./thread-commands.ts")),
      (module) => act(module, targetOf(flags)),
    ),
  );

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);
const unwrap = Option.getOrUndefined;

const thread = Argument.String("thread").pipe(Argument.withDescription("A thread's id"));
const input = Argument.String("input").pipe(Argument.withDescription("An input's id"));
const text = Argument.String("text").pipe(Argument.withDescription("What to say"));
const about = (description: string) => Command.withDescription(description);

const approvalMode = Flag.Literals("approval-mode", ["ask", "accept_edits", "full_access"]).pipe(
  Flag.withDescription("What the agent may do without asking"),
  Flag.optional,
);
const model = optional("model", "NAME", "The model, by the agent's own name");
const effort = optional("effort", "NAME", "How hard the model thinks, by the agent's own name");

/** One that names a thread and nothing else. */
const ofThread = (
  name: string,
  description: string,
  act: (it: Module, target: Target, threadId: string) => ReturnType<Module["releaseSession"]>,
) =>
  Command.make(name, { thread }, ({ thread: threadId }) => using((it, target) => act(it, target, threadId))).pipe(
    about(description),
  );

/** Below `threads`, which alone lists them. */
export const threadCommands = [
  Command.make(
    "create",
    {
      instance: Argument.String("instance").pipe(Argument.withDescription("Which agent: demo, codex, claude, …")),
      cwd: optional("cwd", "DIR", "Where it works. Default: here"),
      title: optional("title", "TEXT", "What it is called"),
      model,
      effort,
      approvalMode,
      resume: optional("resume", "ID", "Go on with a session that the agent has of its own"),
    },
    ({ instance, cwd, title, model: name, effort: hard, approvalMode: mode, resume }) =>
      using((it, target) =>
        it.createThread(target, {
          instance,
          cwd: unwrap(cwd),
          title: unwrap(title),
          model: unwrap(name),
          effort: unwrap(hard),
          approvalMode: unwrap(mode),
          resume: unwrap(resume),
        }),
      ),
  ).pipe(about("Make a thread and say nothing yet; prints its id")),
  Command.make("rename", { thread, title: Argument.String("title") }, ({ thread: threadId, title }) =>
    using((it, target) => it.renameThread(target, threadId, title)),
  ).pipe(about("Give a thread another title")),
  ofThread("archive", "Put a thread away; it takes no new work", (it, target, id) =>
    it.archiveThread(target, id, true),
  ),
  ofThread("unarchive", "Bring an archived thread back", (it, target, id) => it.archiveThread(target, id, false)),
  ofThread("delete", "Delete a thread; what it said is erased after some days", (it, target, id) =>
    it.removeThread(target, id, false),
  ),
  ofThread("purge", "Delete a thread and erase what it said at once and for good", (it, target, id) =>
    it.removeThread(target, id, true),
  ),
  Command.make(
    "configure",
    {
      thread,
      model,
      effort,
      serviceTier: optional("service-tier", "NAME", "The service tier, by the agent's own name"),
      approvalMode,
      interactionMode: Flag.Literals("interaction-mode", ["default", "plan"]).pipe(
        Flag.withDescription("Whether it works, or plans first"),
        Flag.optional,
      ),
      textDelivery: Flag.Literals("text-delivery", ["streaming", "buffered"]).pipe(
        Flag.withDescription("Whether text is shown as it comes, or when it is whole"),
        Flag.optional,
      ),
    },
    ({ thread: threadId, ...flags }) =>
      using((it, target) =>
        it.configureThread(target, threadId, {
          model: unwrap(flags.model),
          effort: unwrap(flags.effort),
          serviceTier: unwrap(flags.serviceTier),
          approvalMode: unwrap(flags.approvalMode),
          interactionMode: unwrap(flags.interactionMode),
          textDelivery: unwrap(flags.textDelivery),
        }),
      ),
  ).pipe(about("Change a thread's settings; says when that applies")),
  Command.make(
    "read",
    {
      thread,
      upTo: Flag.Int("up-to").pipe(
        Flag.withDescription("Only up to the row of this position. Default: everything"),
        Flag.optional,
      ),
    },
    ({ thread: threadId, upTo }) => using((it, target) => it.readThread(target, threadId, unwrap(upTo))),
  ).pipe(about("Mark a thread's rows as read")),
] as const;

const ofInput = (
  name: string,
  description: string,
  act: (it: Module, target: Target, threadId: string, inputId: string) => ReturnType<Module["withdrawInput"]>,
) =>
  Command.make(name, { thread, input }, ({ thread: threadId, input: inputId }) =>
    using((it, target) => act(it, target, threadId, inputId)),
  ).pipe(about(description));

export const inputs = Command.make("inputs").pipe(
  about("What waits for the agents, and what is not settled"),
  Command.withSubcommands([
    ofThread("list", "The inputs of a thread that are not done", (it, target, id) => it.listInputs(target, id)),
    Command.make("edit", { thread, input, text }, ({ thread: threadId, input: inputId, text: words }) =>
      using((it, target) => it.editInput(target, threadId, inputId, words)),
    ).pipe(about("Change the words of an input that waits")),
    ofInput(
      "withdraw",
      "Take back an input that waits, or that the agent has not read yet",
      (it, target, id, inputId) => it.withdrawInput(target, id, inputId),
    ),
    ofInput("resubmit", "Send an input again that failed, or that was perhaps not read", (it, target, id, inputId) =>
      it.settleInput(target, id, inputId, "resubmit"),
    ),
    ofInput("discard", "Put away an input that failed, or that was perhaps not read", (it, target, id, inputId) =>
      it.settleInput(target, id, inputId, "discard"),
    ),
  ]),
);

export const send = Command.make(
  "send",
  {
    thread,
    text: Argument.String("text").pipe(Argument.withDescription("What to say; - for standard input")),
    delivery: Flag.Literals("delivery", ["auto", "prompt", "steer", "queue"]).pipe(
      Flag.withDescription("auto (default): steer the running turn where that is possible, else wait"),
      Flag.withDefault("auto" as const),
    ),
    id: optional("id", "ID", "The input's id: the same one again is the same input"),
    source: optional("source", "NAME", "It is said by this program for you"),
    attach: attachFlag,
  },
  ({ thread: threadId, text: words, delivery, id, source, attach }) =>
    using((it, target) =>
      it.sendInput(target, { threadId, text: words, delivery, inputId: unwrap(id), source: unwrap(source), attach }),
    ),
).pipe(about("Say something in a thread; says which way it goes"));

export const queue = Command.make("queue").pipe(
  about("The inputs that wait in line"),
  Command.withSubcommands([
    ofThread("resume", "Go on with what waits after a turn that failed or was stopped", (it, target, id) =>
      it.resumeQueue(target, id),
    ),
  ]),
);

export const session = Command.make("session").pipe(
  about("The agent behind a thread"),
  Command.withSubcommands([
    ofThread("release", "End the agent; the next input starts it again with what it remembers", (it, target, id) =>
      it.releaseSession(target, id),
    ),
    ofThread(
      "forget",
      "Begin anew with the next input, without what the agent remembers: for when that is lost",
      (it, target, id) => it.forgetSession(target, id),
    ),
  ]),
);
