import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { approval, makeWorld, started } from "./support/world.ts";

const asked = Effect.gen(function* () {
  const world = yield* makeWorld();
  yield* world.create("T", { input: { inputId: "i1", text: "x" } });
  yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
  return world;
});

const yes = { type: "request.answer", threadId: "T", requestId: "r1", answer: { optionId: "yes" } } as const;

const question = (requestId: string, secret: boolean) =>
  ({
    type: "request.opened",
    requestId,
    turnId: "t1",
    payload: {
      kind: "user_input",
      questions: [{ id: "q", text: "?", options: [], multiple: false, freeText: true, secret }],
    },
  }) as const;

describe("answers", () => {
  it.effect("the first answer goes to the runtime, once (pain 9)", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      const [first, second] = yield* Effect.all([world.send(yes), world.send({ ...yes, answer: { optionId: "no" } })], {
        concurrency: "unbounded",
      });
      yield* world.settled;
      assert.strictEqual(first.status, "accepted");
      assert.strictEqual(second.status === "rejected" && second.rejection.code, "already_answered");
      assert.deepStrictEqual(world.stub.called("answer"), [`T answer r1 {"optionId":"yes"}`]);
      assert.strictEqual((yield* world.payloads("request.answered"))[0]?.["delivery"], "confirmed");
    }),
  );

  it.effect("nothing was written: pending again, and another answer goes", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      for (const reason of ["not_written", "refused", "unsupported"]) {
        world.stub.behaviours.answer = reason;
        yield* world.does(yes);
        assert.strictEqual(world.state().requests[0]?.state, "pending");
      }
      assert.strictEqual((yield* world.payloads("request.delivery_failed")).length, 3);
      world.stub.behaviours.answer = "accept";
      yield* world.does(yes);
      assert.strictEqual(world.stub.count("answer"), 4);
      assert.deepStrictEqual(world.state().requests, []);
    }),
  );

  it.effect("perhaps written, or no answer in time: unconfirmed, and never given again", () =>
    Effect.gen(function* () {
      for (const reason of ["unconfirmed", "exited", "die", "hang"]) {
        const world = yield* asked;
        world.stub.behaviours.answer = reason;
        yield* world.does(yes);
        if (reason === "hang") yield* world.pass(15_000);
        assert.strictEqual((yield* world.payloads("request.answered"))[0]?.["delivery"], "unconfirmed", reason);
        yield* world.pass(60_000);
        assert.strictEqual(world.stub.count("answer"), 1);
      }
    }),
  );

  it.effect("a runtime without that control keeps the request open", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.has = { ...world.stub.has, answer: false };
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      yield* world.does(yes);
      assert.strictEqual(world.state().requests[0]?.state, "pending");
    }),
  );

  it.effect("the policy's answer takes the same way", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" }, approvalMode: "full_access" });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      assert.deepStrictEqual(world.stub.called("answer"), [`T answer r1 {"optionId":"yes"}`]);
      const [answered] = yield* world.payloads("request.answered");
      assert.deepStrictEqual(answered?.["by"], { kind: "system", id: "approval_policy" });
    }),
  );

  it.effect("answers do not wait for a prompt or a steer that hangs", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      world.stub.behaviours.steer = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      yield* world.submit("s1", { delivery: "steer" });
      yield* world.does(yes);
      assert.strictEqual(world.stub.count("answer"), 1);
    }),
  );

  it.effect("the runtime takes the request back while its answer is on its way", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      world.stub.behaviours.answer = "hang";
      yield* world.does(yes);
      yield* world.says("T", { type: "request.resolved", requestId: "r1", payload: { outcome: "withdrawn" } });
      yield* world.pass(15_000);
      assert.deepStrictEqual(world.state().requests, []);
      assert.strictEqual((yield* world.payloads("request.answered")).length, 0);
    }),
  );

  it.effect("a secret reaches the runtime and nothing else; the first of two wins", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      yield* world.says("T", question("r2", true));
      const give = (value: string) =>
        world.send({ type: "request.answer", threadId: "T", requestId: "r2", answer: { answers: { q: value } } });
      const invalid = yield* world.send({
        type: "request.answer",
        threadId: "T",
        requestId: "r2",
        answer: { answers: { other: "wrong-secret" } },
      });
      assert.strictEqual(invalid.status, "rejected");
      yield* Effect.all([give("hunter2"), give("later-secret")], { concurrency: "unbounded" });
      yield* world.settled;
      assert.deepStrictEqual(world.stub.called("answer"), [`T answer r2 {"answers":{"q":"hunter2"}}`]);
      const log = JSON.stringify(yield* world.events());
      for (const secret of ["hunter2", "later-secret", "wrong-secret"]) assert.isFalse(log.includes(secret), secret);
      assert.isTrue(log.includes("•••"));
    }),
  );

  it.effect("a secret that is gone is asked for again, not made up", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      yield* world.says("T", question("r2", true));
      // Committed while no engine looks: its memory does not have the value.
      yield* world.host!.crash({ sessionsSurvive: true });
      yield* Effect.orDie(
        world.writer.dispatch(
          {
            type: "request.answer",
            commandId: "direct",
            threadId: "T",
            requestId: "r2",
            answer: { answers: { q: "hunter2" } },
          },
          { now: "1970-01-01T00:00:00.000Z", actor: { kind: "client", id: "phone" } },
        ),
      );
      yield* world.boot;
      yield* world.settled;
      assert.strictEqual(world.stub.count("answer"), 0);
      assert.strictEqual(world.state().requests.find(({ requestId }) => requestId === "r2")?.state, "pending");
    }),
  );

  it.effect("what a plain question was answered survives the engine", () =>
    Effect.gen(function* () {
      const world = yield* asked;
      yield* world.says("T", question("r2", false));
      yield* world.does({ type: "request.answer", threadId: "T", requestId: "r2", answer: { answers: { q: "blue" } } });
      assert.deepStrictEqual(world.stub.called("answer"), [`T answer r2 {"answers":{"q":"blue"}}`]);
    }),
  );
});
