import { assert, describe, it } from "vitest";
import {
  acceptInput,
  addInput,
  apply,
  committed,
  dropInput,
  open,
  refuseInput,
  start,
  type Page,
} from "../src/reducer/index.ts";
import { created, makeLog, threadId } from "./support.ts";

const said = { id: "i", text: "hello" };
const queued = { inputId: "i", text: "hello", delivery: "auto", mode: "prompt", origin: { kind: "user" } } as const;

const fresh = () => {
  const log = makeLog();
  log.add("thread.created", created);
  return { log, view: apply(start(threadId), log.frames) };
};

describe("an input of this device", () => {
  it("is shown at once, and the real one takes its place", () => {
    const { log, view } = fresh();
    const sending = addInput(view, said);
    assert.deepInclude(sending.inputs[0], { id: "i", text: "hello", local: { state: "sending" } });
    assert.lengthOf(committed(sending)?.inputs ?? [], 0);
    const known = apply(sending, log.add("input.queued", queued));
    assert.lengthOf(known.inputs, 1);
    assert.notProperty(known.inputs[0], "local");
    const message = apply(known, log.add("input.handed_over", { inputId: "i", generation: 1, mode: "prompt" }));
    assert.lengthOf(message.rows, 1);
  });

  it("is never there twice, whichever comes first: the event, the call's answer, or the call itself", () => {
    const { log, view } = fresh();
    const event = log.add("input.queued", queued);
    const done = [
      event,
      log.add("input.handed_over", { inputId: "i", generation: 1, mode: "prompt" }),
      log.add("input.done", { inputId: "i" }),
    ];
    const eventFirst = addInput(apply(view, event), said);
    assert.lengthOf(eventFirst.inputs, 1);
    assert.lengthOf(acceptInput(eventFirst, "i", 2).inputs, 1);
    const answerFirst = acceptInput(addInput(view, said), "i", log.sequence());
    assert.lengthOf(answerFirst.inputs, 1);
    assert.lengthOf(apply(answerFirst, done).inputs, 0);
    assert.lengthOf(addInput(apply(view, done), said).inputs, 0);
  });

  it("survives a new snapshot while it is on its way, and goes with one that has it", () => {
    const { log, view } = fresh();
    const sending = addInput(view, said);
    const page = committed(view) as Page;
    assert.lengthOf(open(page, sending).inputs, 1);
    const accepted = acceptInput(sending, "i", log.sequence() + 1);
    assert.lengthOf(open({ ...page, sequence: log.sequence() + 1 }, accepted).inputs, 0);
  });

  it("that was refused stays with why, until it is sent again or dropped", () => {
    const { view } = fresh();
    const error = { code: "busy", detail: "A turn runs.", userAction: "wait" };
    const refused = refuseInput(addInput(view, said), "i", error);
    assert.deepStrictEqual(refused.inputs[0]?.local, { state: "refused", error });
    assert.deepStrictEqual(addInput(refused, said).inputs[0]?.local, { state: "sending" });
    assert.lengthOf(dropInput(refused, "i").inputs, 0);
  });
});
