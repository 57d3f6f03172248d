import { event } from "@tributary/contracts";
import type {
  Answer,
  DomainEvent,
  DomainPayloads,
  InternalCommandOf,
  Question,
  RefusalReason,
} from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  answered,
  answering,
  asked,
  created,
  ended,
  exited,
  expired,
  failure,
  now,
  open,
  opening,
  options,
  person,
  ready,
  runtime,
  tasking,
  turn,
} from "./facts.ts";
import { given } from "./given.ts";

const active = [...open, turn("t1")];
const answer = (given: Answer = { optionId: "yes" }, subjectHash?: string) =>
  ({
    type: "request.answer",
    requestId: "r",
    answer: given,
    ...(subjectHash === undefined ? {} : { subjectHash }),
  }) as const;
const withdrawn = (reason: string) => event("request.withdrawn", { requestId: "r", reason });

describe("request.answer", () => {
  it("the first one wins, and is on its way", () => {
    given(...active, asked("r"))
      .when(answer({ optionId: "yes" }, "h1"))
      .thenEvents(answering("r"));
    given(...active, asked("r"))
      .when(answer({ optionId: "no", message: "not that file" }))
      .thenEvents(
        event("request.answering", {
          requestId: "r",
          answer: { optionId: "no", message: "not that file" },
          by: person,
        }),
      );
  });

  it.each<[string, ReadonlyArray<DomainEvent>, string]>([
    ["never asked", [], "unknown_request"],
    ["being answered", [asked("r"), answering("r")], "already_answered"],
    ["answered", [asked("r"), answering("r"), answered("r")], "already_answered"],
    ["expired", [asked("r"), expired("r", "x")], "request_expired"],
    ["withdrawn", [asked("r"), withdrawn("x")], "request_expired"],
    ["past its time", [asked("r", { expiresAt: now })], "request_expired"],
    ["of a session that is over", [asked("r"), ended("t1", "lost"), expired("r", "x"), exited()], "request_expired"],
  ])("to one %s", (_, history, code) => {
    const { decision } = given(...active, ...history).when(answer());
    expect(decision).toMatchObject({ ok: false, rejection: { code } });
  });

  it("says who was first, and with what", () => {
    const details = { by: person, answer: { optionId: "yes" } };
    for (const history of [[answering("r")], [answering("r"), answered("r")]])
      expect(
        given(...active, asked("r"), ...history)
          .when(answer({ optionId: "no" }))
          .thenRejected("already_answered", /phone/)?.details,
      ).toStrictEqual(details);
    expect(
      given(...active, asked("r"), event("request.answered", { requestId: "r", delivery: "confirmed" }))
        .when(answer())
        .thenRejected("already_answered")?.details,
    ).toStrictEqual({ by: null, answer: null });
  });

  it("before its time is up", () => {
    given(...active, asked("r", { expiresAt: "2026-01-01T00:00:00.001Z" }))
      .when(answer())
      .thenEvents(answering("r"));
  });

  it("given to something else is request_changed", () => {
    given(...active, asked("r"))
      .when(answer({ optionId: "yes" }, "h0"))
      .thenRejected("request_changed");
  });

  it("again, when the first one certainly did not arrive", () => {
    const notDelivered = event("request.delivery_failed", { requestId: "r", error: failure() });
    given(...active, asked("r"), answering("r"), notDelivered)
      .when(answer({ optionId: "no" }))
      .thenEvents(answering("r", "no"));
  });
});

describe("answers that fit", () => {
  const question = (id: string, over: Partial<Question> = {}): Question => ({
    id,
    text: "?",
    options: [{ label: "A" }, { label: "B" }],
    multiple: false,
    freeText: false,
    ...over,
  });
  const questions = [
    question("one"),
    question("many", { multiple: true }),
    question("free", { freeText: true }),
    question("open", { options: [] }),
  ];
  const full = { one: "A", many: ["A", "B"], free: "other", open: "anything" };
  const input = (over: Partial<DomainPayloads["request.opened"]>): DomainEvent =>
    event("request.opened", {
      requestId: "r",
      turnId: "t1",
      agentPath: [],
      generation: 1,
      subjectHash: "h1",
      kind: "user_input",
      ...over,
    });
  const takes = (request: DomainEvent, given_: Answer) =>
    given(...active, request)
      .when(answer(given_))
      .thenEvents(event("request.answering", { requestId: "r", answer: given_, by: person }));
  const refuses = (request: DomainEvent, given_: Answer, message: RegExp) =>
    given(...active, request)
      .when(answer(given_))
      .thenRejected("invalid_answer", message);

  it("an approval takes an offered option", () => {
    refuses(asked("r"), { optionId: "maybe" }, /maybe is not offered; offered: yes, always, no/);
    refuses(asked("r"), { answers: { one: "A" } }, /answered with an option/);
    refuses(
      event("request.opened", { requestId: "r", agentPath: [], generation: 1, subjectHash: "h", kind: "approval" }),
      { optionId: "yes" },
      /offered: none/,
    );
  });

  it("questions take one value each, or several where that is said", () => {
    takes(input({ questions }), { answers: full });
    takes(input({ questions }), { answers: { ...full, one: ["B"], many: [], free: "A" } });
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ other: "A" }, /other was not asked; asked: one, many, free, open/],
      [{ one: "C" }, /"C" is not offered for one; offered: A, B/],
      [{ one: ["A", "B"] }, /one takes one answer, not 2/],
      [{ one: [] }, /one takes one answer, not 0/],
      [{ one: 1 }, /one must be a text$/],
      [{ many: ["A", "C"] }, /"C" is not offered/],
      [{ many: [1] }, /many must be a text or a list of texts/],
    ];
    for (const [over, message] of wrong) refuses(input({ questions }), { answers: { ...full, ...over } }, message);
    refuses(input({ questions }), { answers: { one: "A" } }, /many is not answered/);
    refuses(input({ questions: [question("toString")] }), { answers: {} }, /toString is not answered/);
  });

  it("an option may stand beside questions", () => {
    takes(input({ questions, options: [{ id: "skip", label: "Skip", effect: "cancel", scope: "once" }] }), {
      optionId: "skip",
    });
  });

  it("a form takes its fields", () => {
    const form = {
      type: "object",
      properties: {
        name: { type: "string" },
        age: { type: "integer" },
        rate: { type: "number" },
        on: { type: "boolean" },
        size: { type: "string", enum: ["S", "M"] },
        tint: { oneOf: [{ const: "r", title: "Red" }, { const: "b" }] },
        tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
        odd: { type: "mystery" },
        any: true,
      },
      required: ["name"],
    };
    takes(input({ form }), { answers: { name: "a" } });
    takes(input({ form }), {
      answers: { name: "a", age: 1, rate: 0.5, on: false, size: "S", tint: "b", tags: ["x"], odd: {}, any: 1 },
    });
    const wrong: ReadonlyArray<readonly [Record<string, unknown>, RegExp]> = [
      [{ name: 1 }, /name must be of type string/],
      [{ age: 1.5 }, /age must be of type integer/],
      [{ rate: "1" }, /rate must be of type number/],
      [{ on: "yes" }, /on must be of type boolean/],
      [{ size: "L" }, /"L" is not offered for size; offered: "S", "M"/],
      [{ tint: "g" }, /"g" is not offered for tint; offered: "r", "b"/],
      [{ tags: "x" }, /tags must be of type array/],
      [{ tags: ["z"] }, /"z" is not offered for tags/],
      [{ nope: 1 }, /nope was not asked/],
    ];
    for (const [over, message] of wrong) refuses(input({ form }), { answers: { name: "a", ...over } }, message);
    refuses(input({ form }), { answers: {} }, /name is required/);
    takes(input({ form: { properties: { constructor: {} } } }), { answers: {} });
    refuses(input({ form: "odd" }), { answers: { x: 1 } }, /x was not asked/);
  });

  it("a page to visit takes nothing but that it was visited", () => {
    takes(input({ url: "https://login.example" }), { answers: {} });
    refuses(input({ url: "https://login.example" }), { answers: { code: "1" } }, /code was not asked/);
  });

  it("secret values stay out of the log (I16)", () => {
    given(...active, input({ questions: [question("key", { secret: true, freeText: true }), question("one")] }))
      .when(answer({ answers: { key: "s3cret", one: "A" } }))
      .thenEvents(
        event("request.answering", { requestId: "r", answer: { answers: { key: "•••", one: "A" } }, by: person }),
      );
    const form = { properties: { pin: { type: "string", format: "password" }, token: { writeOnly: true }, user: {} } };
    given(...active, input({ form }))
      .when(answer({ answers: { pin: "1", token: "2", user: "3" } }))
      .thenEvents(
        event("request.answering", {
          requestId: "r",
          answer: { answers: { pin: "•••", token: "•••", user: "3" } },
          by: person,
        }),
      );
  });
});

describe("request.open", () => {
  type Open = InternalCommandOf<"request.open">;
  const ask = (over: Partial<Open> = {}): Open => ({
    type: "request.open",
    requestId: "r",
    turnId: "t1",
    agentPath: [],
    generation: 1,
    subjectHash: "h1",
    kind: "approval",
    action: "command",
    options,
    ...over,
  });
  const system = { kind: "system", id: "approval_policy" } as const;

  it("asks the person", () => {
    given(...active)
      .told(ask())
      .thenEvents(asked("r"));
    expect(given(...active, asked("r", { expiresAt: now })).state?.requests).toStrictEqual([
      {
        requestId: "r",
        kind: "approval",
        state: "pending",
        generation: 1,
        turnId: "t1",
        agentPath: [],
        blocking: true,
        action: "command",
        subjectHash: "h1",
        options,
        expiresAt: now,
      },
    ]);
  });

  it("is answered by the policy where the person chose that", () => {
    given(created({ approvalMode: "full_access" }), opening(), ready(), turn("t1"))
      .told(ask())
      .thenEvents(asked("r"), answering("r", "yes", system));
    const edit = { action: "file_change", subject: { paths: ["src/a.ts"] } } as const;
    given(created({ approvalMode: "accept_edits" }), opening(), ready(), turn("t1"))
      .told(ask(edit))
      .thenEvents(asked("r", edit), answering("r", "yes", system));
    given(created({ approvalMode: "accept_edits" }), opening(), ready(), turn("t1"))
      .told(ask())
      .thenEvents(asked("r"));
  });

  it("of a background agent outlives the turn", () => {
    const inside = { agentPath: ["bg"] };
    given(...active, tasking("bg", "background"), ended("t1"))
      .told(ask(inside))
      .thenEvents(asked("r", inside));
  });

  it("twice is once", () => {
    given(...active, asked("r"))
      .told(ask())
      .thenNothing();
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, Open]>([
    ["closed before", "request_over", [...active, asked("r"), withdrawn("x")], ask()],
    ["of no session", "no_session", [created()], ask()],
    ["of another generation", "other_generation", active, ask({ generation: 2 })],
    ["of a session over", "session_over", [...active, ended("t1"), exited()], ask()],
    ["of a turn over", "turn_over", [...active, ended("t1")], ask()],
    ["of a turn never seen", "turn_unknown", open, ask()],
  ])("%s is refused", (_, reason, history, command) => {
    given(...history)
      .told(command)
      .thenRefused(reason);
  });
});

describe("what becomes of a request", () => {
  type Resolve = InternalCommandOf<"request.resolve">;
  const resolve = (over: Partial<Resolve> = {}): Resolve => ({
    type: "request.resolve",
    requestId: "r",
    outcome: "answered",
    ...over,
  });
  const pending = [...active, asked("r")];
  const onItsWay = [...pending, answering("r")];
  const notDelivered = { type: "request.not_delivered", requestId: "r", error: failure() } as const;
  const deliver = (outcome: "confirmed" | "unconfirmed") =>
    ({ type: "request.deliver", requestId: "r", outcome }) as const;

  it("the runtime resolves it", () => {
    given(...pending)
      .told(resolve({ optionId: "no" }))
      .thenEvents(answered("r", { answer: { optionId: "no" }, by: runtime }));
    given(...pending)
      .told(resolve())
      .thenEvents(event("request.answered", { requestId: "r", by: runtime, delivery: "confirmed" }));
    given(...onItsWay)
      .told(resolve())
      .thenEvents(answered("r"));
    given(...onItsWay)
      .told(resolve({ optionId: "yes" }))
      .thenEvents(answered("r"));
    for (const history of [pending, onItsWay]) {
      given(...history)
        .told(resolve({ outcome: "withdrawn" }))
        .thenEvents(withdrawn("withdrawn_by_runtime"));
      given(...history)
        .told(resolve({ outcome: "expired" }))
        .thenEvents(expired("r", "expired_by_runtime"));
    }
  });

  it("the runtime took another answer than ours", () => {
    given(...onItsWay)
      .told(resolve({ optionId: "no" }))
      .thenEvents(answered("r", { answer: { optionId: "no" }, by: runtime }));
    // An option that was never offered says nothing about which one it took.
    given(...onItsWay)
      .told(resolve({ optionId: "native-7" }))
      .thenEvents(answered("r"));
  });

  it("the answer was delivered, perhaps, or certainly not", () => {
    given(...onItsWay)
      .told(deliver("confirmed"))
      .thenEvents(answered("r"));
    given(...onItsWay)
      .told(deliver("unconfirmed"))
      .thenEvents(answered("r", { delivery: "unconfirmed" }));
    given(...onItsWay)
      .told(notDelivered)
      .thenEvents(event("request.delivery_failed", { requestId: "r", error: failure() }));
  });

  it("its time is up", () => {
    given(...pending)
      .told({ type: "request.expire", requestId: "r", reason: "deadline" })
      .thenEvents(expired("r", "deadline"));
    given(...onItsWay)
      .told({ type: "request.expire", requestId: "r", reason: "deadline" })
      .thenRefused("invalid");
  });

  it("the policy answers", () => {
    const by = { kind: "system", id: "policy" } as const;
    const auto = (optionId: string) =>
      ({ type: "request.auto_answer", requestId: "r", answer: { optionId }, by }) as const;
    given(...pending)
      .told(auto("yes"))
      .thenEvents(answering("r", "yes", by));
    given(...pending)
      .told(auto("maybe"))
      .thenRefused("invalid");
    given(...onItsWay)
      .told(auto("yes"))
      .thenRefused("invalid");
  });

  it.each([
    resolve(),
    deliver("confirmed"),
    notDelivered,
    { type: "request.expire", requestId: "r", reason: "x" } as const,
    { type: "request.auto_answer", requestId: "r", answer: { optionId: "yes" }, by: runtime } as const,
  ])("$type of what is not open is refused", (command) => {
    given(...active)
      .told(command)
      .thenRefused("request_unknown");
    given(...onItsWay, answered("r"))
      .told(command)
      .thenRefused("request_over");
  });

  it.each([deliver("confirmed"), notDelivered])("$type without an answer on its way is refused", (command) => {
    given(...pending)
      .told(command)
      .thenRefused("invalid");
  });
});
