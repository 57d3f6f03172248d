import { event } from "@tributary/contracts";
import type { DomainEvent, InternalCommandOf, RefusalReason } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  acting,
  answering,
  asked,
  began,
  capabilities,
  closedText,
  created,
  done,
  ended,
  exited,
  expired,
  failed,
  failure,
  handedOver,
  held,
  idOf,
  interrupting,
  open,
  opening,
  queued,
  ready,
  released,
  running,
  said,
  stopped,
  tasking,
  taskStopped,
  turn,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given } from "./given.ts";

type Exit = InternalCommandOf<"session.exit">;
const exit = (over: Partial<Exit> = {}): Exit => ({
  type: "session.exit",
  generation: 1,
  seen: "runtime",
  kind: "crash",
  exitCode: 1,
  recoverable: true,
  ...over,
});
const restart = exit({ seen: "host_restart", kind: "killed" });
const unseen = event("session.exited", {
  generation: 1,
  kind: "killed",
  exitCode: 1,
  recoverable: true,
  settledBy: "system",
});
const crash = { class: "transport", message: "The runtime exited with code 1", retryable: true } as const;
const sessionFailed = event("session.failed", { generation: 1, error: failure() });
const fail = { type: "session.fail", generation: 1, error: failure() } as const;
const opened = {
  type: "session.opened",
  generation: 1,
  nativeSessionId: "native-1",
  resumed: false,
  capabilities,
} as const;
const idle = { type: "session.idle", generation: 1 } as const;
const system = { settledBy: "system" } as const;

describe("opening", () => {
  it("counts generations", () => {
    given(created())
      .told({ type: "session.open", generation: 1, resume: "n", marker: "m" })
      .thenEvents(event("session.opening", { generation: 1, resume: "n", marker: "m" }));
    for (const over of [exited(), released(), sessionFailed])
      given(created(), opening(), over).told({ type: "session.open", generation: 2 }).thenEvents(opening(2));
    for (const generation of [1, 3])
      given(...open, exited())
        .told({ type: "session.open", generation })
        .thenRefused("other_generation");
    for (const live of [[created(), opening()], open])
      given(...live)
        .told({ type: "session.open", generation: 2 })
        .thenRefused("invalid");
  });

  it("comes to a session", () => {
    given(created(), opening()).told(opened).thenEvents(ready());
    const { state } = given(...open);
    expect(state).toMatchObject({ session: { state: "ready", nativeSessionId: "native-1", capabilities } });
  });

  it("can be resumed once it had a turn", () => {
    expect(given(...open).state?.nativeSessionId).toBeUndefined();
    expect(given(...open, turn("t1")).state?.nativeSessionId).toBe("native-1");
  });

  it("or to nothing: the input that it was for fails, the rest waits", () => {
    given(created(), opening()).told(fail).thenEvents(sessionFailed);
    given(created(), queued("q", "queue"), queued("q2", "queue"), opening())
      .told(fail)
      .thenEvents(failed("q"), held("failed"), sessionFailed);
    given(created(), queued("i1"), opening()).told(fail).thenEvents(failed("i1"), sessionFailed);
    given(created(), queued("q", "queue"), held("lost"), opening()).told(fail).thenEvents(sessionFailed);
  });

  it("that came to nothing settles what a runtime did meanwhile", () => {
    given(created(), queued("q", "queue"), queued("q2", "queue"), opening(), turn("t0"), acting("a", { turnId: "t0" }))
      .told(fail)
      .thenEvents(
        stopped("t0//a"),
        ended("t0", "failed", { error: failure(), ...system }),
        held("failed", "t0"),
        failed("q"),
        sessionFailed,
      );
  });

  it.each([opened, fail])("$type is only for the session being opened", (command) => {
    given(created()).told(command).thenRefused("no_session");
    given(...open)
      .told(command)
      .thenRefused("invalid");
    given(...open, exited())
      .told(command)
      .thenRefused("session_over");
    given(created(), opening())
      .told({ ...command, generation: 2 })
      .thenRefused("other_generation");
  });
});

describe("session.exit", () => {
  it("settles everything, in order (4.10)", () => {
    const half = said("Hel", { turnId: "t1" });
    given(
      ...open,
      ...running(),
      half,
      acting("a"),
      asked("r1"),
      asked("r2"),
      answering("r2"),
      tasking("bg", "background"),
      queued("s", "steer"),
      handedOver("s", "steer"),
      queued("q", "queue"),
    )
      .told(exit())
      .thenEvents(
        closedText(idOf({ turnId: "t1" }), 3, "system"),
        stopped("t1//a"),
        expired("r1", "session_exited"),
        expired("r2", "session_exited"),
        taskStopped("bg"),
        ended("t1", "failed", { error: crash, ...system }),
        done("i1", "t1"),
        unconfirmed("s", "session_exited"),
        held("failed", "t1"),
        exited(),
      );
  });

  it.each([
    ["seen", exit(), ended("t1", "failed", { error: crash, ...system }), "failed", exited()],
    ["unseen", restart, ended("t1", "lost", system), "lost", unseen],
  ] as const)("%s, mid-turn", (_, command, end, reason, over) => {
    given(...open, ...running(), queued("q", "queue"))
      .told(command)
      .thenEvents(end, done("i1", "t1"), held(reason, "t1"), over);
  });

  it("that somebody asked for interrupts", () => {
    for (const [command, over] of [
      [exit(), exited()],
      [restart, unseen],
    ] as const)
      given(...open, ...running(), interrupting({ turnId: "t1" }), queued("q", "queue"))
        .told(command)
        .thenEvents(ended("t1", "interrupted", system), done("i1", "t1"), held("interrupted", "t1"), over);
  });

  it.each([
    ["nobody read", [], [unconfirmed("i1", "session_exited")]],
    ["that had begun", [began("i1")], [done("i1")]],
    ["that had begun a turn never seen", [began("i1", "t9")], [done("i1", "t9")]],
  ] as const)("with an input in flight %s", (_, history, settled) => {
    given(...open, queued("i1"), handedOver("i1"), ...history, queued("q", "queue"))
      .told(exit())
      .thenEvents(...settled, held("failed"), exited());
  });

  it("while idle lets what waits go on: it was never sent", () => {
    given(...open, queued("i1"), queued("q", "queue"))
      .told(exit())
      .thenEvents(exited());
    given(...open, queued("q", "queue"))
      .told(restart)
      .thenEvents(unseen);
  });

  it("while opening fails the input that it was for, unless it was the host that died", () => {
    given(created(), queued("i1"), queued("q", "queue"), opening())
      .told(exit())
      .thenEvents(failed("i1", crash), held("failed"), exited());
    given(created(), queued("i1"), queued("q", "queue"), opening()).told(restart).thenEvents(unseen);
  });

  it.each<[Partial<Exit>, string]>([
    [{ signal: "SIGKILL" }, "The runtime exited by signal SIGKILL"],
    [{ reason: "bye" }, "The runtime exited with code 1: bye"],
    [{ stderrTail: "a\nError: no key\n\n" }, "The runtime exited with code 1: Error: no key"],
  ])("says how it went: %o", (over, message) => {
    const { decision } = given(...open, ...running()).told(exit(over));
    expect(decision).toMatchObject({ events: [{ payload: { error: { message } } }, {}, {}] });
  });

  it("without a code says so, and no more than people read", () => {
    const bare: Exit = { type: "session.exit", generation: 1, seen: "runtime", kind: "crash", recoverable: false };
    const { decision } = given(...open, ...running()).told({ ...bare, reason: "x".repeat(9_000) });
    const first = decision.ok ? decision.events[0] : undefined;
    const message = first?.type === "turn.ended" ? first.payload.error?.message : undefined;
    expect(message).toMatch(/^The runtime exited without saying why: x+$/);
    expect(message).toHaveLength(4_000);
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>]>([
    ["no session", "no_session", [created()]],
    ["an old incarnation", "other_generation", [...open, exited(), opening(2)]],
    ["one exited before", "session_over", [...open, exited()]],
    ["one released before", "session_over", [...open, released()]],
    ["one that failed", "session_over", [created(), opening(), sessionFailed]],
  ])("of %s is refused", (_, reason, history) => {
    given(...history)
      .told(exit())
      .thenRefused(reason);
  });
});

describe("session.release", () => {
  it("without a live session is nothing", () => {
    given(created()).when({ type: "session.release" }).thenNothing();
    given(...open, exited())
      .when({ type: "session.release" })
      .thenNothing();
  });

  it("interrupts what runs and stops what would open the next one", () => {
    given(...open, ...running(), asked("r"), tasking("bg", "background"), queued("s", "steer"), queued("q", "queue"))
      .when({ type: "session.release" })
      .thenEvents(
        expired("r", "session_released"),
        taskStopped("bg"),
        ended("t1", "interrupted", system),
        done("i1", "t1"),
        held("interrupted", "t1"),
        released(),
      );
    given(created(), queued("i1"), queued("q", "queue"), opening())
      .when({ type: "session.release" })
      .thenEvents(withdrawn("i1", "session_released"), held("interrupted"), released());
    given(...open, queued("i1"), handedOver("i1"), queued("q", "queue"), held("lost"))
      .when({ type: "session.release" })
      .thenEvents(unconfirmed("i1", "session_released"), released());
  });

  it("by idle care only while nothing is at work", () => {
    given(...open)
      .told(idle)
      .thenEvents(released(1, "idle"));
    given(...open, queued("q", "queue"), held("failed"))
      .told(idle)
      .thenEvents(released(1, "idle"));
    given(...open, turn("t1"))
      .told(idle)
      .thenRefused("turn_active");
    const busy = [[queued("i1")], [queued("i1"), handedOver("i1")], [tasking("bg", "background")], [asked("r")]];
    for (const history of busy)
      given(...open, ...history)
        .told(idle)
        .thenRefused("invalid");
    given(created(), opening()).told(idle).thenRefused("invalid");
    given(created()).told(idle).thenRefused("no_session");
    given(...open, exited())
      .told(idle)
      .thenRefused("session_over");
    given(...open)
      .told({ ...idle, generation: 2 })
      .thenRefused("other_generation");
  });
});

describe("session.configure", () => {
  const configure = (over: object) => ({ type: "session.configure", generation: 1, ...over }) as const;
  const configured = event("session.configured", { generation: 1, model: "m" });

  it("only when something is different", () => {
    given(...open)
      .told(configure({ model: "m" }))
      .thenEvents(configured);
    given(...open, configured)
      .told(configure({ model: "m" }))
      .thenNothing();
    given(...open)
      .told(configure({ options: [] }))
      .thenEvents(event("session.configured", { generation: 1, options: [] }));
  });

  it("of the live session", () => {
    given(created())
      .told(configure({ model: "m" }))
      .thenRefused("no_session");
    given(...open, exited())
      .told(configure({ model: "m" }))
      .thenRefused("session_over");
    given(...open)
      .told({ ...configure({ model: "m" }), generation: 2 })
      .thenRefused("other_generation");
  });
});
