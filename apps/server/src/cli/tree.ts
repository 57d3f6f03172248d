/** Every subcommand: its arguments, its flags, what it is for. What it does is loaded when it is called. */
import { Effect, Option } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { approvals } from "./answers.ts";
import { attachFlag, root, targetOf } from "./root.ts";
import type { Target } from "./root.ts";
import { devices, pair } from "./tree-devices.ts";
import { inputs, queue, send, session, threadCommands } from "./tree-threads.ts";

/** Loads a module, then runs what it has for the shared flags. */
const using = <M, A, E, R>(load: () => Promise<M>, act: (module: M, target: Target) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(root, (flags) => Effect.flatMap(Effect.promise(load), (module) => act(module, targetOf(flags))));

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

const approve = Flag.Literals("approve", approvals).pipe(
  Flag.withDescription(
    "Who answers the agent: you (ask, the default), or nobody: all (allow once), session (allow for the session), none (reject)",
  ),
  Flag.optional,
);
const thread = Argument.String("thread").pipe(Argument.withDescription("A thread's id"));
const unwrap = Option.getOrUndefined;

const completions = Command.make(
  "completions",
  { shell: Argument.Literals("shell", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("bash, zsh or fish")) },
  ({ shell }) =>
    using(
      () => import("./completions.ts"),
      (it) => it.completions(shell),
    ),
).pipe(
  Command.withDescription("Print a script that has a shell complete subcommands and flags"),
  Command.withExamples([
    { command: 'eval "$(tributary completions bash)"', description: "In ~/.bashrc" },
    { command: "tributary completions fish | source", description: "In config.fish" },
  ]),
);

const serve = Command.make(
  "serve",
  {
    host: Flag.String("host").pipe(
      Flag.withDescription("The address to listen on; only this machine can reach the default"),
      Flag.withDefault("127.0.0.1"),
    ),
    port: Flag.Int("port").pipe(Flag.withDescription("Default: 4417 or the next free one"), Flag.optional),
    tlsCert: optional("tls-cert", "FILE", "Serve https with this certificate (PEM); needs --tls-key"),
    tlsKey: optional("tls-key", "FILE", "The certificate's private key (PEM)"),
    tunnel: optional("tunnel", "URL", "The https:// address of a tunnel or proxy in front, which ends TLS"),
  },
  ({ host, port, tlsCert, tlsKey, tunnel }) =>
    using(
      () => import("./serve.ts"),
      (it, target) =>
        it.serve({
          target,
          host,
          port: unwrap(port),
          tlsCert: unwrap(tlsCert),
          tlsKey: unwrap(tlsKey),
          tunnel: unwrap(tunnel),
        }),
    ),
).pipe(Command.withDescription("Run the server of a data folder"));

const run = Command.make(
  "run",
  {
    instance: Argument.String("instance").pipe(Argument.withDescription("Which agent: demo, codex, claude, …")),
    prompt: Argument.String("prompt").pipe(Argument.withDescription("What to say to it; - for standard input")),
    cwd: optional("cwd", "DIR", "Where it works. Default: here"),
    model: optional("model", "NAME", "The model, by the agent's own name"),
    effort: optional("effort", "NAME", "How hard the model thinks, by the agent's own name"),
    approve,
    record: optional("record", "FILE", "Write what crossed the boundary to the agent to a file"),
    attach: attachFlag,
  },
  ({ instance, prompt, cwd, model, effort, approve: who, record, attach: files }) =>
    using(
      () => import("./run.ts"),
      (it, target) =>
        it.run({
          target,
          instance,
          prompt,
          cwd: unwrap(cwd),
          model: unwrap(model),
          effort: unwrap(effort),
          approve: unwrap(who),
          record: unwrap(record),
          attach: files,
        }),
    ),
).pipe(
  Command.withDescription("Say one thing to an agent and watch what it does"),
  Command.withExamples([
    { command: 'tributary run demo "hello"', description: "The built-in demo agent" },
    { command: 'tributary run codex "fix the tests" --approve all', description: "Without a person" },
    { command: "tributary run codex - --approve all < prompt.md", description: "What to say, from a file" },
  ]),
);

const diagnostics = Command.make("diagnostics", { thread }, ({ thread: threadId }) =>
  using(
    () => import("./diagnostics.ts"),
    (it, target) => it.showDiagnostics(target, threadId),
  ),
).pipe(Command.withDescription("What its agent said that was unknown, unreadable or refused, and what is stalled"));

const threads = Command.make(
  "threads",
  { all: Flag.Boolean("all").pipe(Flag.withDescription("Archived ones as well"), Flag.withDefault(false)) },
  ({ all }) =>
    using(
      () => import("./listings.ts"),
      (it, target) => it.listThreads(target, all),
    ),
).pipe(Command.withDescription("List threads"), Command.withSubcommands([...threadCommands, diagnostics]));

const attach = Command.make("attach", { thread, approve }, ({ thread: threadId, approve: who }) =>
  using(
    () => import("./controls.ts"),
    (it, target) => it.attach(target, threadId, unwrap(who)),
  ),
).pipe(Command.withDescription("Show a thread and follow it"));

const answer = Command.make(
  "answer",
  {
    request: Argument.String("request").pipe(Argument.withDescription("A request's id"), Argument.optional),
    answer: Argument.String("answer").pipe(
      Argument.withDescription("An option's id or label, or the words to answer with"),
      Argument.optional,
    ),
    thread: optional("thread", "ID", "The request of this thread, where several threads have one of that id"),
  },
  ({ request, answer: said, thread: threadId }) =>
    using(
      () => import("./controls.ts"),
      (it, target) =>
        Option.isSome(request)
          ? it.answer(target, request.value, unwrap(said), unwrap(threadId))
          : it.listRequests(target, unwrap(threadId)),
    ),
).pipe(Command.withDescription("Answer what an agent asks; without arguments: list what waits"));

const interrupt = Command.make(
  "interrupt",
  {
    thread,
    turn: optional("turn", "ID", "Only this turn: nothing is stopped where another runs by now"),
    input: optional("input", "ID", "Only the turn that this input is in; an input that still waits is taken back"),
  },
  ({ thread: threadId, turn, input }) =>
    using(
      () => import("./controls.ts"),
      (it, target) => it.interrupt(target, threadId, { turnId: unwrap(turn), inputId: unwrap(input) }),
    ),
).pipe(Command.withDescription("Stop what a thread does"));

const projects = Command.make("projects", {}, () =>
  using(
    () => import("./listings.ts"),
    (it, target) => it.listProjects(target),
  ),
).pipe(
  Command.withDescription("List the folders that agents may work in"),
  Command.withSubcommands([
    Command.make(
      "add",
      {
        dir: Argument.String("dir").pipe(Argument.withDescription("The folder")),
        title: optional("title", "TEXT", "Default: the folder's name"),
      },
      ({ dir, title }) =>
        using(
          () => import("./listings.ts"),
          (it, target) => it.addProject(target, dir, unwrap(title)),
        ),
    ).pipe(Command.withDescription("Register a folder")),
    Command.make(
      "remove",
      { project: Argument.String("project").pipe(Argument.withDescription("A project's id")) },
      ({ project }) =>
        using(
          () => import("./listings.ts"),
          (it, target) => it.removeProject(target, project),
        ),
    ).pipe(Command.withDescription("Take a project off the list; its files stay")),
  ]),
);

const instances = Command.make("instances", {}, () =>
  using(
    () => import("./listings.ts"),
    (it, target) => it.listInstances(target),
  ),
).pipe(Command.withDescription("List the configured agents and those found on this machine"));

const runtimes = Command.make("runtimes", {}, () =>
  using(
    () => import("./listings.ts"),
    (it, target) => it.listRuntimes(target),
  ),
).pipe(Command.withDescription("List the kinds of agents this build knows, and what is installed"));

const journal = Command.make("journal").pipe(
  Command.withDescription("What crossed the boundary to agents"),
  Command.withSubcommands([
    Command.make("list", {}, () =>
      using(
        () => import("./journal.ts"),
        (it, target) => it.listJournals(target),
      ),
    ).pipe(Command.withDescription("Threads whose agent was ever started, and in how many sessions")),
    Command.make("show", { thread }, ({ thread: threadId }) =>
      using(
        () => import("./journal.ts"),
        (it, target) => it.showJournal(target, threadId),
      ),
    ).pipe(Command.withDescription("One line a record")),
    Command.make("export", { thread }, ({ thread: threadId }) =>
      using(
        () => import("./journal.ts"),
        (it, target) => it.exportJournal(target, threadId),
      ),
    ).pipe(Command.withDescription("Print a native recording, as `tributary normalize` reads it")),
    Command.make(
      "prune",
      {
        days: Flag.Int("days").pipe(Flag.withDescription("Let go of records older than this"), Flag.optional),
        megabytes: Flag.Int("megabytes").pipe(Flag.withDescription("Until the journal takes no more"), Flag.optional),
      },
      ({ days, megabytes }) =>
        using(
          () => import("./maintenance.ts"),
          (it, target) => it.pruneJournal(target, { days: unwrap(days), megabytes: unwrap(megabytes) }),
        ),
    ).pipe(Command.withDescription("Let go of old records; what is not interpreted yet stays")),
  ]),
);

const rebuild = Command.make("rebuild", {}, () =>
  using(
    () => import("./maintenance.ts"),
    (it, target) => it.rebuild(target),
  ),
).pipe(Command.withDescription("Make everything that lists and pages show anew from the log"));

const backup = Command.make(
  "backup",
  { dir: Argument.String("dir").pipe(Argument.withDescription("An empty folder, or one to be made")) },
  ({ dir }) =>
    using(
      () => import("./maintenance.ts"),
      (it, target) => it.backup(target, dir),
    ),
).pipe(Command.withDescription("Copy the data folder's store into an empty folder"));

const doctor = Command.make("doctor", {}, () =>
  using(
    () => import("./maintenance.ts"),
    (it, target) => it.doctor(target),
  ),
).pipe(Command.withDescription("Check the data folder, the configuration and the agents"));

const file = Argument.String("file").pipe(Argument.withDescription("A file, or - for standard input"));

const scenario = Command.make("scenario", { file }, ({ file: path }) =>
  using(
    () => import("./scripts.ts"),
    (it) => it.scenario(path),
  ),
).pipe(Command.withDescription("Run a scenario file on a fresh store and print what became of it"));

const normalize = Command.make(
  "normalize",
  {
    runtime: Flag.String("runtime").pipe(Flag.withDescription("Whose recording it is: claude, codex, scripted (demo)")),
    file,
  },
  ({ runtime, file: path }) =>
    using(
      () => import("./scripts.ts"),
      (it) => it.normalize(runtime, path),
    ),
).pipe(Command.withDescription("Turn a native recording into canonical events, starting nothing"));

/** The whole command line. */
export const tributary = root.pipe(
  Command.withSubcommands([
    serve,
    run,
    threads,
    attach,
    answer,
    interrupt,
    send,
    inputs,
    queue,
    session,
    pair,
    devices,
    projects,
    instances,
    runtimes,
    journal,
    rebuild,
    backup,
    doctor,
    scenario,
    normalize,
    completions,
  ]),
);
