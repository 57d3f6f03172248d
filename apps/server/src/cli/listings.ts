/** Commands that list: threads, projects, instances, runtimes. */
import { resolve } from "node:path";
import type { ThreadShell } from "@tributary/contracts";
import { Effect, Layer } from "effect";
import { Configuration } from "../config/Configuration.ts";
import { locateDataFolder } from "../config/data-folder.ts";
import { defaultConfig } from "../config/schema.ts";
import { Instances } from "../Instances.ts";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import { asFailure } from "./failure.ts";
import { oneLine, print, printJson, table } from "./output.ts";
import type { Target } from "./root.ts";

const threadLine = (thread: ThreadShell): ReadonlyArray<string> => [
  thread.threadId,
  thread.status.value,
  thread.instance,
  oneLine(thread.title ?? thread.preview?.text ?? "", 48),
  thread.cwd,
];

/** Threads, the most recently changed first. */
export const listThreads = Effect.fn("cli.threads")(function* (target: Target, all: boolean) {
  const { client, access } = yield* connect(target, "store");
  const threads: Array<ThreadShell> = [];
  for (let before: string | undefined, more = true; more;) {
    const page = yield* client.threads
      .list({
        query: { limit: 200, ...(all ? {} : { archived: "false" }), ...(before === undefined ? {} : { before }) },
      })
      .pipe(Effect.mapError(clientFailure(access)));
    threads.push(...page.threads);
    before = page.before;
    more = before !== undefined;
  }
  if (target.json) return yield* printJson({ threads });
  if (threads.length === 0) return yield* print('No threads yet: tributary run demo "hello" makes one.\n');
  return yield* print(table([["THREAD", "STATUS", "AGENT", "TITLE", "FOLDER"], ...threads.map(threadLine)]));
}, Effect.scoped);

export const listProjects = Effect.fn("cli.projects")(function* (target: Target) {
  const { client, access } = yield* connect(target, "store");
  const { projects } = yield* client.projects.list().pipe(Effect.mapError(clientFailure(access)));
  if (target.json) return yield* printJson({ projects });
  if (projects.length === 0) return yield* print("No projects yet: tributary projects add DIR registers one.\n");
  return yield* print(
    table([["PROJECT", "TITLE", "ROOT"], ...projects.map(({ projectId, title, root }) => [projectId, title, root])]),
  );
}, Effect.scoped);

export const addProject = Effect.fn("cli.projects.add")(function* (
  target: Target,
  dir: string,
  title: string | undefined,
) {
  const { client, access } = yield* connect(target, "everything");
  const root = resolve(dir);
  const made = yield* client.projects
    .create({ headers: {}, payload: { root, ...(title === undefined ? {} : { title }) } })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(made) : print(`Registered ${root} as project ${made.projectId}.\n`);
}, Effect.scoped);

export const removeProject = Effect.fn("cli.projects.remove")(function* (target: Target, projectId: string) {
  const { client, access } = yield* connect(target, "everything");
  const receipt = yield* client.projects
    .remove({ params: { projectId }, headers: {} })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(receipt) : print(`Removed project ${projectId}; its files stay.\n`);
}, Effect.scoped);

export const listInstances = Effect.fn("cli.instances")(function* (target: Target) {
  const { client, access } = yield* connect(target, "store");
  const { instances } = yield* client.instances.list().pipe(Effect.mapError(clientFailure(access)));
  if (target.json) return yield* printJson({ instances });
  const lines = instances.map(({ id, runtime, installation: { available, version, problem, path } }) => [
    id,
    runtime,
    available ? (version ?? "ready") : "not available",
    available ? (path ?? "") : oneLine(problem ?? "", 120),
  ]);
  return yield* print(table([["INSTANCE", "RUNTIME", "VERSION", ""], ...lines]));
}, Effect.scoped);

/** The runtimes of this build and what this machine has of them; no store is opened. */
export const listRuntimes = Effect.fn("cli.runtimes")(function* (target: Target) {
  yield* Effect.mapError(locateDataFolder(target.data), asFailure);
  const services = yield* Layer.build(Instances.layer().pipe(Layer.provide(Configuration.layerConst(defaultConfig))));
  const views = yield* Effect.provideContext(
    Instances.use(({ views }) => views),
    services,
  );
  if (target.json)
    return yield* printJson({ runtimes: views.map(({ runtime, installation }) => ({ runtime, ...installation })) });
  const lines = views.map(({ runtime, installation: { available, version, problem, path } }) => [
    runtime,
    available ? (version ?? "ready") : "not available",
    available ? (path ?? "") : oneLine(problem ?? "", 120),
  ]);
  return yield* print(table([["RUNTIME", "VERSION", ""], ...lines]));
}, Effect.scoped);
