import { event } from "@tributary/contracts";
import type { Delivery, DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  began,
  created,
  discarded,
  done,
  ended,
  exited,
  failed,
  handedOver,
  held,
  interrupting,
  open,
  opening,
  queued,
  ready,
  resumed,
  running,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given } from "./given.ts";

const submit = (delivery?: Delivery, inputId = "i9") =>
  ({
    type: "input.submit",
    inputId,
    text: `text of ${inputId}`,
    ...(delivery === undefined ? {} : { delivery }),
  }) as const;
const asked = (mode: "prompt" | "steer" | "queue", delivery: Delivery = mode, inputId = "i9") =>
  queued(inputId, mode, { delivery });
const noSteer: ReadonlyArray<DomainEvent> = [created(), opening(), ready(1, { steer: false })];
const heldBehind: ReadonlyArray<DomainEvent> = [
  ...open,
  ...running(),
  queued("q", "queue"),
  ended("t1", "failed"),
  done("i1"),
  held("failed", "t1"),
];

describe("input.submit", () => {
  it("keeps what was said", () => {
    const origin = { kind: "automation", source: "cron" } as const;
    given(...open)
      .when({ ...submit("prompt"), origin })
      .thenEvents(queued("i9", "prompt", { origin }));
  });

  it("takes attachments by what is known of them, whatever the client says", () => {
    given(...open)
      .when({ ...submit("prompt"), attachments: [{ id: "a1", name: "../x", mimeType: "text/html" }] })
      .thenEvents(queued("i9", "prompt", { attachments: [{ id: "a1", name: "one.png", mimeType: "image/png" }] }));
  });

  it("refuses attachments that are not there, and takes nothing", () => {
    const rejection = given(...open)
      .when({ ...submit("prompt"), attachments: [{ id: "a1" }, { id: "a2" }] })
      .thenRejected("attachment_not_found", /a2.*Upload it again/);
    expect(rejection?.details).toEqual({ attachmentId: "a2" });
  });

  it.each<[string, ReadonlyArray<DomainEvent>, { readonly [D in Delivery]: string }]>([
    ["a new thread", [created()], { prompt: "prompt", queue: "queue", auto: "prompt", steer: "no_active_turn" }],
    ["an idle session", open, { prompt: "prompt", queue: "queue", auto: "prompt", steer: "no_active_turn" }],
    [
      "a session over",
      [...open, exited()],
      { prompt: "prompt", queue: "queue", auto: "prompt", steer: "no_active_turn" },
    ],
    ["a running turn", [...open, ...running()], { prompt: "busy", queue: "queue", auto: "steer", steer: "steer" }],
    [
      "a running turn that cannot be steered",
      [...noSteer, ...running()],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "unsupported" },
    ],
    [
      "a turn being stopped",
      [...open, ...running(), interrupting({ turnId: "t1" })],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "busy" },
    ],
    [
      "a prompt queued ahead",
      [...open, queued("i1")],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "no_active_turn" },
    ],
    [
      "a prompt in flight",
      [...open, queued("i1"), handedOver("i1")],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "no_active_turn" },
    ],
    [
      "a prompt started whose turn is not seen",
      [...open, queued("i1"), handedOver("i1"), began("i1")],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "no_active_turn" },
    ],
    [
      "a queue that goes on",
      [...open, queued("q", "queue")],
      { prompt: "busy", queue: "queue", auto: "queue", steer: "no_active_turn" },
    ],
    ["a held queue", heldBehind, { prompt: "prompt", queue: "queue", auto: "queue", steer: "no_active_turn" }],
  ])("with %s", (_, history, outcomes) => {
    const told = (delivery: Delivery) => {
      const { decision } = given(...history).when(submit(delivery));
      return decision.ok ? decision.mode : decision.rejection.code;
    };
    expect({ prompt: told("prompt"), queue: told("queue"), auto: told("auto"), steer: told("steer") }).toStrictEqual(
      outcomes,
    );
  });

  it("without a delivery is auto", () => {
    given(...open)
      .when(submit())
      .thenEvents(asked("prompt", "auto"));
    given(...open, ...running())
      .when(submit())
      .thenEvents(asked("steer", "auto"));
  });

  it("a prompt lets a held queue go on after it, the queue does not", () => {
    given(...heldBehind)
      .when(submit("prompt"))
      .thenEvents(resumed, asked("prompt"));
    given(...heldBehind)
      .when(submit("queue"))
      .thenEvents(asked("queue"));
  });

  it("never takes an id twice, whatever became of the first", () => {
    const again = submit("queue", "i1");
    for (const became of [
      [],
      [handedOver("i1")],
      [withdrawn("i1")],
      [failed("i1")],
      [handedOver("i1"), began("i1"), done("i1")],
    ])
      given(...open, queued("i1"), ...became)
        .when(again)
        .thenRejected("input_exists");
  });

  it("accepts the plan that it names, if that is still proposed", () => {
    const proposed = event("plan.proposed", { planId: "p1", agentPath: [], markdown: "# Plan" });
    given(...open, proposed)
      .when({ ...submit("prompt"), planId: "p1" })
      .thenEvents(
        event("plan.resolved", { planId: "p1", outcome: "accepted" }),
        queued("i9", "prompt", { planId: "p1" }),
      );
    given(...open)
      .when({ ...submit("prompt"), planId: "p1" })
      .thenEvents(queued("i9", "prompt", { planId: "p1" }));
  });

  it("keeps the state bounded (I11)", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => queued(`q${index}`, "queue"));
    given(created(), ...many)
      .when(submit("queue"))
      .thenRejected("busy", /1000 inputs/);
    const failures = Array.from({ length: 101 }, (_, index) => [queued(`f${index}`), failed(`f${index}`)]).flat();
    given(created(), ...failures)
      .when(submit("queue"))
      .thenEvents(discarded("f0"), asked("queue"));
  });
});

describe("changing an input", () => {
  const states: ReadonlyArray<[string, ReadonlyArray<DomainEvent>]> = [
    ["unknown", []],
    ["handed over", [queued("i1"), handedOver("i1")]],
    ["started", running()],
    ["done", [...running(), ended("t1"), done("i1", "t1")]],
    ["withdrawn", [queued("i1"), withdrawn("i1")]],
    ["unconfirmed", [queued("i1"), handedOver("i1"), unconfirmed("i1", "x")]],
    ["failed", [queued("i1"), failed("i1")]],
  ];

  it.each(states)("that is %s: no edit, no withdrawal", (_, history) => {
    given(...open, ...history)
      .when({ type: "input.edit", inputId: "i1", text: "x" })
      .thenRejected("not_queued");
    given(...open, ...history)
      .when({ type: "input.withdraw", inputId: "i1" })
      .thenRejected("not_queued");
  });

  it.each([...states.slice(0, 5), ["queued", [queued("i1")]] as const])("that is %s: no resubmission", (_, history) => {
    for (const type of ["input.resubmit", "input.discard"] as const)
      given(...open, ...history)
        .when({ type, inputId: "i1" })
        .thenRejected("not_queued");
  });

  it("while it is queued", () => {
    given(...open, queued("i1"))
      .when({ type: "input.edit", inputId: "i1", text: "new" })
      .thenEvents(event("input.edited", { inputId: "i1", text: "new" }));
    given(...open, queued("i1"))
      .when({ type: "input.withdraw", inputId: "i1" })
      .thenEvents(withdrawn("i1"));
  });

  it("withdrawing the last of a held queue lets the queue go", () => {
    given(...heldBehind)
      .when({ type: "input.withdraw", inputId: "q" })
      .thenEvents(withdrawn("q"), resumed);
    given(...heldBehind, queued("q2", "queue"))
      .when({ type: "input.withdraw", inputId: "q" })
      .thenEvents(withdrawn("q"));
  });
});

describe("input.resubmit and discard", () => {
  const content = { input: { text: "text of i1", origin: { kind: "user" } } } as const;
  const again = (mode: "prompt" | "queue") => queued("i1", mode, { delivery: "auto", again: true });
  const resubmit = { type: "input.resubmit", inputId: "i1" } as const;

  it.each([
    ["failed", [queued("i1"), failed("i1")]],
    ["unconfirmed", [queued("i1"), handedOver("i1"), unconfirmed("i1", "x")]],
  ] as const)("of a %s input", (_, history) => {
    given(...open, ...history)
      .when(resubmit, content)
      .thenEvents(again("prompt"));
    given(...open, ...history)
      .when({ type: "input.discard", inputId: "i1" })
      .thenEvents(discarded("i1"));
  });

  it("goes on with a queue that was held and is empty", () => {
    given(...heldBehind, failed("q"))
      .when({ type: "input.resubmit", inputId: "q" }, content)
      .thenEvents(resumed, queued("q", "prompt", { text: "text of i1", delivery: "auto", again: true }));
  });

  it("stands at the end of the queue, and is never a steer", () => {
    const history = [...open, queued("i1"), failed("i1"), queued("i2"), handedOver("i2")];
    given(...history)
      .when(resubmit, content)
      .thenEvents(again("queue"));
    expect(
      given(...history, queued("i3", "queue"), again("queue")).state?.inputs.map(({ inputId }) => inputId),
    ).toStrictEqual(["i2", "i3", "i1"]);
    given(...open, queued("i1"), failed("i1"), ...running("i2"))
      .when(resubmit, content)
      .thenEvents(again("queue"));
  });

  it("needs the text from its row", () => {
    expect(() => given(...open, queued("i1"), failed("i1")).when(resubmit)).toThrow(/context.input/);
  });
});

describe("queue.resume", () => {
  it("once", () => {
    given(...heldBehind)
      .when({ type: "queue.resume" })
      .thenEvents(resumed);
    given(...open)
      .when({ type: "queue.resume" })
      .thenNothing();
  });
});
