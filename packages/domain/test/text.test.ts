import { event } from "@tributary/contracts";
import type { DomainEvent, RefusalReason } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  closedText,
  created,
  ended,
  exited,
  idOf,
  open,
  opening,
  ready,
  said,
  saidMore,
  startOf,
  thought,
  turn,
} from "./facts.ts";
import { given } from "./given.ts";

const place = { turnId: "t1" };
const id = idOf(place);
const begin = (text: string, at: Parameters<typeof startOf>[0] = place) =>
  ({ type: "message.append", messageId: idOf(at), offset: 0, text, start: startOf(at) }) as const;
const more = (offset: number, text: string) => ({ type: "message.append", messageId: id, offset, text }) as const;
const complete = { type: "message.complete", messageId: id } as const;
const replace = { type: "message.replace", messageId: id, text: "Bye" } as const;
const retract = { type: "message.retract", messageId: id, reason: "cut" } as const;
const retracted = event("message.retracted", { messageId: id, reason: "cut" });
const replaced = event("message.replaced", { messageId: id, text: "Bye" });
const active = [...open, turn("t1")];
const hello = said("Hello", place);

describe("message.append", () => {
  it("begins a message, and grows it at its end", () => {
    given(...active)
      .told(begin("Hello"))
      .thenEvents(hello);
    given(...active, hello)
      .told(more(5, " you"))
      .thenEvents(saidMore(id, 5, " you"));
    expect(given(...active, hello, saidMore(id, 5, "!")).state?.texts).toMatchObject([{ id, length: 6 }]);
  });

  it("without a turn", () => {
    given(...open)
      .told(begin("Hi", {}))
      .thenEvents(said("Hi", {}));
  });

  it("never at another place, never twice, never out of nothing (I4)", () => {
    for (const command of [more(4, "x"), more(6, "x"), more(0, "x")])
      given(...active, hello)
        .told(command)
        .thenRefused("invalid");
    given(...active, hello)
      .told(begin("Hello"))
      .thenRefused("invalid");
    given(...active, hello, closedText(id, 5))
      .told(begin("Hello"))
      .thenRefused("invalid");
    given(...active)
      .told(more(0, "x"))
      .thenRefused("invalid");
    given(...active)
      .told({ ...begin("x"), offset: 1 })
      .thenRefused("invalid");
  });

  it("of an ended turn goes to that turn's message, which stays closed", () => {
    const late = [...active, hello, closedText(id, 5, "system"), ended("t1"), turn("t2")];
    given(...late)
      .told(more(5, "!"))
      .thenEvents(saidMore(id, 5, "!"));
    expect(given(...late, saidMore(id, 5, "!")).state).toMatchObject({ texts: [], turn: { turnId: "t2" } });
    given(...late, saidMore(id, 5, "!"))
      .told(more(6, "?"))
      .thenEvents(saidMore(id, 6, "?"));
    given(...late, saidMore(id, 5, "!"))
      .told(more(5, "?"))
      .thenRefused("invalid");
  });

  it("of an ended turn or session that had no message comes closed", () => {
    for (const over of [[ended("t1")], [ended("t1"), turn("t2")], [ended("t1", "lost"), exited()]])
      given(...active, ...over)
        .told(begin("Late"))
        .thenEvents(said("Late", place), closedText(id, 4, "system"));
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, object]>([
    ["no session", "no_session", [created()], {}],
    ["another generation", "other_generation", active, { generation: 2 }],
    ["a turn never seen", "turn_unknown", active, { turnId: "t9" }],
    [
      "a turn of an earlier session",
      "other_generation",
      [...active, ended("t1", "lost"), exited(), opening(2), ready(2)],
      { generation: 2 },
    ],
  ])("of %s is refused", (_, reason, history, over) => {
    given(...history)
      .told(begin("x", { ...place, ...over }))
      .thenRefused(reason);
  });
});

describe("the end of a message, and what may still change", () => {
  it("closes it once", () => {
    given(...active, hello)
      .told(complete)
      .thenEvents(closedText(id, 5));
    given(...active, hello, closedText(id, 5))
      .told(complete)
      .thenNothing();
    given(...active)
      .told(complete)
      .thenRefused("invalid");
  });

  it("the final text replaces it, open or closed", () => {
    given(...active, hello)
      .told(replace)
      .thenEvents(replaced);
    given(...active, hello, replaced)
      .told(more(3, "!"))
      .thenEvents(saidMore(id, 3, "!"));
    given(...active, hello, closedText(id, 5))
      .told(replace)
      .thenEvents(replaced);
    given(...active, hello, closedText(id, 5), replaced, ended("t1"))
      .told(more(3, "!"))
      .thenEvents(saidMore(id, 3, "!"));
    given(...active)
      .told(replace)
      .thenRefused("invalid");
  });

  it("what is retracted is gone for good", () => {
    for (const history of [[hello], [hello, closedText(id, 5)]]) {
      given(...active, ...history)
        .told(retract)
        .thenEvents(retracted);
      for (const command of [more(5, "!"), replace, retract])
        given(...active, ...history, retracted)
          .told(command)
          .thenRefused("item_over");
    }
    given(...active)
      .told(retract)
      .thenRefused("invalid");
  });
});

describe("reasoning", () => {
  const reasoningId = "t1//r#r0";
  const append = (offset: number, text: string) =>
    ({ type: "reasoning.append", reasoningId, kind: "full", offset, text }) as const;
  const start = startOf({ turnId: "t1", itemId: "r" });
  const completed = event("reasoning.completed", { reasoningId, length: 2 });

  it("follows the same rules", () => {
    given(...active)
      .told({ ...append(0, "hm"), start })
      .thenEvents(thought("hm", "t1"));
    expect(given(...active, thought("hm", "t1")).state?.texts).toMatchObject([
      { id: reasoningId, kind: "full", length: 2 },
    ]);
    given(...active, thought("hm", "t1"))
      .told(append(2, "m"))
      .thenEvents(event("reasoning.appended", { reasoningId, kind: "full", offset: 2, text: "m" }));
    given(...active, thought("hm", "t1"))
      .told(append(1, "m"))
      .thenRefused("invalid");
    given(...active, thought("hm", "t1"))
      .told({ type: "reasoning.complete", reasoningId })
      .thenEvents(completed);
    given(...active, thought("hm", "t1"), completed)
      .told({ type: "reasoning.complete", reasoningId })
      .thenNothing();
    given(...active, thought("hm", "t1"), completed, ended("t1"))
      .told(append(2, "m"))
      .thenEvents(event("reasoning.appended", { reasoningId, kind: "full", offset: 2, text: "m" }));
    given(...active, ended("t1"))
      .told({ ...append(0, "hm"), start })
      .thenEvents(thought("hm", "t1"), event("reasoning.completed", { reasoningId, length: 2, settledBy: "system" }));
  });
});
