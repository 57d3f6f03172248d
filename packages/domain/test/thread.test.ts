import { event } from "@tributary/contracts";
import type { DomainPayloads, ThreadCommand } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import type { DecideContext } from "../src/index.ts";
import {
  acting,
  answering,
  archived,
  asked,
  created,
  deleted,
  discarded,
  done,
  ended,
  exited,
  expired,
  failed,
  handedOver,
  held,
  open,
  opening,
  queued,
  ready,
  released,
  running,
  stopped,
  tasking,
  taskStopped,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given, stateAfter } from "./given.ts";
import type { BareCommand } from "./given.ts";

const known: Partial<DecideContext> = {
  place: { projectId: "P", cwd: "/real/p" },
  instance: { known: true, refusedOptions: {} },
};
const create = { type: "thread.create", cwd: "/p", instance: "stub" } as const;

describe("thread.create", () => {
  it("binds the real folder and fills in the defaults", () => {
    given()
      .when(create, known)
      .thenEvents(created({ cwd: "/real/p" }));
  });

  it("keeps what was asked", () => {
    const asked = {
      title: "Fix it",
      model: "large",
      effort: "high",
      serviceTier: "fast",
      approvalMode: "full_access",
      interactionMode: "plan",
      textDelivery: "buffered",
      systemPrompt: "Be brief",
      disallowedTools: ["web"],
      resume: { nativeSessionId: "native-0" },
    } as const;
    given()
      .when({ ...create, ...asked }, known)
      .thenEvents(created({ cwd: "/real/p", ...asked }));
    expect(given(created({ resume: { nativeSessionId: "native-0" } })).state).toMatchObject({
      nativeSessionId: "native-0",
    });
  });

  it("masks the values of env and headers, and keeps their names (I16)", () => {
    const server = { name: "db", transport: "stdio", command: "db-mcp", args: ["--ro"] } as const;
    const web = { name: "web", transport: "http", url: "https://mcp.example" } as const;
    const mcpServers = [
      { ...server, env: { TOKEN: "s3cret" } },
      { ...web, headers: { Authorization: "Bearer s3cret" } },
    ];
    const { decision } = given().when({ ...create, mcpServers }, known);
    expect(JSON.stringify(decision)).not.toContain("s3cret");
    given()
      .when({ ...create, mcpServers }, known)
      .thenEvents(
        created({
          cwd: "/real/p",
          mcpServers: [
            { ...server, env: { TOKEN: "•••" } },
            { ...web, headers: { Authorization: "•••" } },
          ],
        }),
      );
  });

  it.each(["cwd_missing", "cwd_outside_roots", "project_not_found"] as const)("is refused with %s", (refused) => {
    given()
      .when(create, { ...known, place: { refused, detail: "why" } })
      .thenRejected(refused, /^why$/);
  });

  it("needs a configured instance", () => {
    given()
      .when(create, { ...known, instance: { known: false, refusedOptions: {} } })
      .thenRejected("runtime_unavailable", /stub/);
  });

  it.each([
    ["model", { model: "m" }],
    ["effort", { effort: "high" }],
    ["serviceTier", { serviceTier: "fast" }],
    ["approvalMode", { approvalMode: "accept_edits" }],
    ["interactionMode", { interactionMode: "plan" }],
    ["systemPrompt", { systemPrompt: "x" }],
    ["mcpServers", { mcpServers: [{ name: "m", transport: "stdio" }] }],
    ["disallowedTools", { disallowedTools: ["web"] }],
    ["resume", { resume: { nativeSessionId: "n" } }],
  ] as const)("refuses %s where the runtime cannot honour it", (option, asked) => {
    const rejection = given()
      .when({ ...create, ...asked }, { ...known, instance: { known: true, refusedOptions: { [option]: "not here" } } })
      .thenRejected("unsupported_option", new RegExp(`${option}: not here`));
    expect(rejection?.details).toStrictEqual({ option, reason: "not here" });
  });

  it("does not refuse what asks for nothing", () => {
    const refusedOptions = { mcpServers: "no", disallowedTools: "no", interactionMode: "no", model: "no" };
    given()
      .when(
        { ...create, mcpServers: [], disallowedTools: [], interactionMode: "default" },
        { ...known, instance: { known: true, refusedOptions } },
      )
      .thenEvents(created({ cwd: "/real/p", mcpServers: [], disallowedTools: [] }));
  });

  it("never uses an id twice", () => {
    given(created()).when(create, known).thenRejected("thread_exists");
    given(created(), deleted).when(create, known).thenRejected("thread_deleted");
  });

  it("takes a first input with it, or nothing at all", () => {
    const input = { inputId: "i1", text: "text of i1" };
    given()
      .when({ ...create, input }, known)
      .thenEvents(created({ cwd: "/real/p" }), queued("i1", "prompt", { delivery: "auto" }));
    given()
      .when({ ...create, input }, known)
      .thenMode("prompt");
    given()
      .when({ ...create, input: { ...input, delivery: "queue" } }, known)
      .thenMode("queue");
    given()
      .when({ ...create, input: { ...input, delivery: "steer" } }, known)
      .thenRejected("no_active_turn");
  });
});

describe("every command", () => {
  const commands: { readonly [T in Exclude<ThreadCommand["type"], "thread.create">]: Omit<BareCommand, "type"> } = {
    "thread.rename": { title: "x" },
    "thread.archive": {},
    "thread.unarchive": {},
    "thread.delete": {},
    "thread.configure": { model: "m" },
    "thread.read": { upTo: 1 },
    "input.submit": { inputId: "i9", text: "x" },
    "input.edit": { inputId: "q", text: "x" },
    "input.withdraw": { inputId: "q" },
    "input.resubmit": { inputId: "f" },
    "input.discard": { inputId: "f" },
    "queue.resume": {},
    "turn.interrupt": {},
    "request.answer": { requestId: "r", answer: { optionId: "yes" } },
    "session.release": {},
    "session.forget": {},
  };
  const whileArchived = new Set([
    "thread.rename",
    "thread.archive",
    "thread.unarchive",
    "thread.delete",
    "thread.read",
    "turn.interrupt",
    "request.answer",
    "session.release",
  ]);
  const history = [...open, ...running(), queued("q", "queue"), queued("f", "queue"), failed("f"), asked("r")];
  const content: Partial<DecideContext> = { input: { text: "x", origin: { kind: "user" } } };

  it.each(Object.entries(commands))("%s knows where it may act", (type, fields) => {
    const command = { type, ...fields } as BareCommand;
    given().when(command).thenRejected("thread_not_found");
    given(created(), deleted).when(command).thenRejected("thread_deleted");
    // Only once no session is open is there something to forget.
    const before = type === "session.forget" ? [created()] : history;
    expect(given(...before).when(command, content).decision).toMatchObject({ ok: true });
    const whenArchived = given(...history, archived).when(command, content);
    if (whileArchived.has(type)) expect(whenArchived.decision).toMatchObject({ ok: true });
    else whenArchived.thenRejected("thread_archived");
  });
});

describe("names, archive, read marker", () => {
  it("renames once", () => {
    const renamed = event("thread.renamed", { title: "A", by: "client" });
    given(created()).when({ type: "thread.rename", title: "A" }).thenEvents(renamed);
    given(created(), renamed).when({ type: "thread.rename", title: "A" }).thenNothing();
    given(created({ title: "A" }))
      .when({ type: "thread.rename", title: "A" })
      .thenNothing();
  });

  it("takes a runtime's title until a person gives one", () => {
    const byRuntime = event("thread.renamed", { title: "B", by: "runtime" });
    given(created()).told({ type: "thread.title", title: "B" }).thenEvents(byRuntime);
    given(created(), byRuntime).told({ type: "thread.title", title: "B" }).thenNothing();
    given(created({ title: "A" }))
      .told({ type: "thread.title", title: "B" })
      .thenNothing();
    // A person who gives the title that the runtime gave makes it theirs.
    given(created(), byRuntime)
      .when({ type: "thread.rename", title: "B" })
      .thenEvents(event("thread.renamed", { title: "B", by: "client" }));
  });

  it("archives while a turn runs, and the session goes on", () => {
    given(...open, ...running())
      .when({ type: "thread.archive" })
      .thenEvents(archived);
    given(created(), archived).when({ type: "thread.archive" }).thenNothing();
    given(created(), archived).when({ type: "thread.unarchive" }).thenEvents(event("thread.unarchived", {}));
    given(created()).when({ type: "thread.unarchive" }).thenNothing();
    given(...open, ...running(), archived)
      .told({ type: "turn.end", turnId: "t1", generation: 1, outcome: "completed" })
      .thenEvents(ended("t1"), done("i1", "t1"));
  });

  it("reading makes no event", () => {
    given(created()).when({ type: "thread.read", upTo: 7 }).thenNothing();
  });
});

describe("thread.configure", () => {
  const configured = (payload: DomainPayloads["thread.configured"]) => event("thread.configured", payload);

  it("never moves a thread (I13), nor gives it to another instance", () => {
    given(created()).when({ type: "thread.configure", cwd: "/q" }).thenRejected("cwd_immutable");
    given(created()).when({ type: "thread.configure", instance: "other" }).thenRejected("unsupported_option");
    given(created()).when({ type: "thread.configure", cwd: "/p", instance: "stub" }).thenNothing();
  });

  it("says when a change takes effect", () => {
    const model = { type: "thread.configure", model: "m" } as const;
    given(created())
      .when(model)
      .thenEvents(configured({ model: "m", applies: "now" }));
    given(...open)
      .when(model)
      .thenEvents(configured({ model: "m", applies: "next_turn" }));
    given(...open, exited())
      .when(model)
      .thenEvents(configured({ model: "m", applies: "now" }));
    expect(given(...open).when(model).decision).toMatchObject({ applies: "next_turn" });
    given(...open)
      .when({ type: "thread.configure", textDelivery: "buffered" })
      .thenEvents(configured({ textDelivery: "buffered", applies: "now" }));
    given(...open)
      .when({ type: "thread.configure", serviceTier: "fast", model: "m", textDelivery: "buffered" })
      .thenEvents(configured({ model: "m", serviceTier: "fast", textDelivery: "buffered", applies: "reopening" }));
  });

  it("changes only what is different", () => {
    given(created({ model: "m" }))
      .when({ type: "thread.configure", model: "m", approvalMode: "full_access" })
      .thenEvents(configured({ approvalMode: "full_access", applies: "now" }));
    given(created({ model: "m" }))
      .when({ type: "thread.configure", model: "m" })
      .thenNothing();
  });

  it("refuses what the runtime refuses, as known before or from its session", () => {
    const effort = { type: "thread.configure", effort: "high" } as const;
    given(created())
      .when(effort, { instance: { known: true, refusedOptions: { effort: "no such thing" } } })
      .thenRejected("unsupported_option", /effort/);
    given(created(), opening(), ready(1, { refusedOptions: { effort: "no such thing" } }))
      .when(effort)
      .thenRejected("unsupported_option", /no such thing/);
  });
});

describe("thread.delete", () => {
  it("of a quiet thread", () => {
    given(created()).when({ type: "thread.delete" }).thenEvents(deleted);
  });

  it("leaves nothing that waits for anybody (I8)", () => {
    given(
      ...open,
      ...running("i1", "t0"),
      ended("t0"),
      done("i1"),
      ...running("i2"),
      acting("a"),
      tasking("bg", "background"),
      asked("r1"),
      asked("r2"),
      answering("r2"),
      queued("s", "steer"),
      handedOver("s", "steer"),
      queued("q", "queue"),
      queued("f", "queue"),
      failed("f"),
    )
      .when({ type: "thread.delete" })
      .thenEvents(
        stopped("t1//a"),
        expired("r1", "session_released"),
        expired("r2", "session_released"),
        taskStopped("bg"),
        ended("t1", "interrupted", { settledBy: "system" }),
        done("i2", "t1"),
        unconfirmed("s", "session_released"),
        released(1, "deleted"),
        discarded("s"),
        withdrawn("q", "thread_deleted"),
        discarded("f"),
        deleted,
      );
  });

  it("of a held queue ends with the thread", () => {
    given(created(), queued("q", "queue"), held("failed"))
      .when({ type: "thread.delete" })
      .thenEvents(withdrawn("q", "thread_deleted"), deleted);
  });

  it("leaves only the purge, once", () => {
    const purged = event("thread.purged", {});
    given(created(), deleted).told({ type: "thread.purge" }).thenEvents(purged);
    given(created(), deleted, purged).told({ type: "thread.purge" }).thenNothing();
    given(created()).told({ type: "thread.purge" }).thenRefused("invalid");
    const titled = event("thread.renamed", { title: "Plans", by: "client" });
    const state = stateAfter(...open, titled, released(1, "deleted"), deleted, purged);
    expect(JSON.stringify(state)).not.toMatch(/Plans|stub|native|\/p/);
    given(created(), deleted).told({ type: "thread.title", title: "x" }).thenRefused("thread_deleted");
    given().told({ type: "thread.title", title: "x" }).thenRefused("thread_unknown");
  });
});
