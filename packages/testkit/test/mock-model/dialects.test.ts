import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mockTexts as texts,
  startMockModel,
  stubbornCommand,
  type RunningMockModel,
} from "../../src/mock-model/index.ts";
import {
  eventsOf,
  messagesClient,
  objectAt,
  objectsAt,
  post,
  rawReply,
  responsesClient,
  stringAt,
  type Answer,
  type TestClient,
} from "./client.ts";
import { claudeDeferredTools, claudeTools } from "./offers.ts";

let mock: RunningMockModel;
beforeAll(async () => {
  mock = await startMockModel();
});
beforeEach(() => mock.reset());
afterAll(() => mock.stop());

const dialects: ReadonlyArray<[string, (url: string) => TestClient]> = [
  ["responses", responsesClient],
  ["messages", messagesClient],
];
const inputs = (answer: Answer): ReadonlyArray<unknown> => answer.calls.map((call) => call.input);
const last = () => mock.journal().at(-1);

describe.each(dialects)("%s", (dialect, connectTo) => {
  const client = () => connectTo(mock.url);

  it.each([
    ["[[text]]", texts.plainText],
    ["[[text:just this]]", "just this"],
    ["[[unicode]]", texts.unicodeText],
    ["[[huge:100000]]", texts.hugeText(100_000)],
    ["[[huge:3000,7]]", texts.hugeText(3000)],
    ["[[slow:6,1]]", texts.slowText(6)],
    ["[[echo]]", texts.echoText(["[[echo]]"])],
    ["[[empty]]", ""],
    ["no marker at all", texts.noMarkerText],
  ])("%s is said exactly", async (prompt, text) => {
    const answer = await client().say(prompt);
    expect(answer).toMatchObject({ status: 200, text, reasoning: "", calls: [], ended: true });
  });

  it("reasons before it speaks", async () => {
    const answer = await client().say("[[reasoning]]");
    expect(answer).toMatchObject({ reasoning: texts.reasoningText, text: texts.afterReasoningText, ended: true });
    const written = answer.events.map((event) => JSON.stringify(event));
    const lastThought = written.findLastIndex((event) => /reasoning_summary_text.delta|thinking_delta/.test(event));
    const firstWord = written.findIndex((event) => /output_text.delta|text_delta/.test(event));
    expect(lastThought).toBeLessThan(firstWord);
  });

  it("calls the shell, then goes on with the result", async () => {
    const conversation = client();
    const first = await conversation.say("[[shell:echo hi]]");
    expect(first.text).toBe(texts.beforeToolText);
    expect(first.calls).toHaveLength(1);
    expect(JSON.stringify(first.calls[0]?.input)).toContain('"echo hi"');
    expect(await conversation.results("hi")).toMatchObject({ text: texts.afterToolText, calls: [], ended: true });
    expect(last()).toMatchObject({ scenario: "shell", arg: "echo hi", step: 1 });
  });

  it("makes two calls in one reply, and one a reply in steps", async () => {
    const conversation = client();
    expect((await conversation.say("[[two_tools]]")).calls).toHaveLength(2);
    expect((await conversation.results("one", "two")).text).toBe(texts.afterToolText);
    expect((await conversation.say("[[steps:2]]")).text).toBe("Step 1.");
    expect((await conversation.results("a")).text).toBe("Step 2.");
    expect((await conversation.results("b")).text).toBe(texts.afterToolText);
    expect(new Set(mock.journal().map((entry) => entry.scenario))).toEqual(new Set(["two_tools", "steps"]));
  });

  it("gives every call an id of its own", async () => {
    const conversation = client();
    const { calls } = await conversation.say("[[two_tools]]");
    const more = await conversation.results("one", "two").then(() => conversation.say("[[two_tools]]"));
    expect(new Set([...calls, ...more.calls].map((call) => call.id)).size).toBe(4);
  });

  it("asks a question and repeats the answer", async () => {
    const conversation = client();
    const asked = await conversation.say("[[question]]");
    expect(asked.calls).toHaveLength(1);
    expect(JSON.stringify(inputs(asked))).toContain("Which colour do you want?");
    expect((await conversation.results("Blue")).text).toBe(texts.answeredText("Blue"));
  });

  it("writes and edits files", async () => {
    const conversation = client();
    expect(JSON.stringify(inputs(await conversation.say("[[write:notes.txt]]")))).toContain("notes.txt");
    await conversation.results("ok");
    let answer = await conversation.say("[[edit:notes.txt]]");
    if (answer.calls[0]?.name === "Read") answer = await conversation.results("1 hello");
    expect(JSON.stringify(inputs(answer))).toContain("goodbye from the mock model");
    expect((await conversation.results("ok")).text).toBe(texts.afterToolText);
  });

  it("starts a sub-agent with a prompt that has a marker of its own", async () => {
    const answer = await client().say("[[subagent:[[text:I am a child]]]]");
    expect(JSON.stringify(inputs(answer))).toContain("[[text:I am a child]]");
  });

  it("runs a shell that ignores a polite stop, and any tool by its name", async () => {
    expect(JSON.stringify(inputs(await client().say("[[slow_shell:7]]")))).toContain(stubbornCommand(7));
    const name = dialect === "responses" ? "view_image" : "Read";
    const answer = await client().say(`[[call:${name} {"path":"/x"}]]`);
    expect(answer.calls).toMatchObject([{ name, input: { path: "/x" } }]);
  });

  it("says which tools there are where none fits", async () => {
    expect((await client().say("[[call:nothing]]")).text).toMatch(/^There is no nothing tool among: /);
    expect((await client().say("[[nonsense]]")).text).toMatch(/has no scenario "nonsense"/);
  });

  it("goes by the last user message, and knows the history", async () => {
    const conversation = client();
    await conversation.say("[[text]]");
    await conversation.say("[[shell:true]]");
    await conversation.results("done");
    const answer = await conversation.say("and now [[echo]]");
    expect(answer.text).toBe(texts.echoText(["[[text]]", "[[shell:true]]", "and now [[echo]]"]));
  });

  it("fails with the status and body of the service", async () => {
    const codes = ["400ctx", "401", "402", "429", "500", "529"];
    const answers = await Promise.all(codes.map((code) => client().say(`[[err:${code}]]`)));
    expect(
      answers.map(({ status, failure }) => [status, stringAt(failure, "type"), stringAt(failure, "code")]),
    ).toEqual(
      dialect === "responses"
        ? [
            [400, "invalid_request_error", "context_length_exceeded"],
            [401, "invalid_request_error", "invalid_api_key"],
            [402, "billing_error", "billing_not_active"],
            [429, "requests", "rate_limit_exceeded"],
            [500, "server_error", "server_error"],
            [529, "server_error", "server_is_overloaded"],
          ]
        : [
            [400, "invalid_request_error", undefined],
            [401, "authentication_error", undefined],
            [402, "billing_error", undefined],
            [429, "rate_limit_error", undefined],
            [500, "api_error", undefined],
            [529, "overloaded_error", undefined],
          ],
    );
  });

  it("fails inside the stream", async () => {
    const answer = await client().say("[[err_mid:500]]");
    expect(answer).toMatchObject({ status: 200, ended: false, failure: { message: "The mock model broke." } });
    expect(texts.plainText.startsWith(answer.text)).toBe(true);
    expect(last()?.outcome).toBe("error");
  });

  it("recovers after as many failures as asked for", async () => {
    const conversation = client();
    expect((await conversation.say("[[err:429,2]]")).status).toBe(429);
    expect((await conversation.again()).status).toBe(429);
    expect(await conversation.again()).toMatchObject({ status: 200, text: texts.plainText, ended: true });
    expect(mock.journal().map((entry) => entry.attempt)).toEqual([1, 2, 3]);
  });

  it("cuts the stream after so many characters, then succeeds", async () => {
    const conversation = client();
    const cut = await conversation.say("[[cut:50]]");
    expect(cut).toMatchObject({ status: 200, text: texts.plainText.slice(0, 50), ended: false, failure: undefined });
    expect(last()).toMatchObject({ outcome: "cut", attempt: 1 });
    expect(await conversation.again()).toMatchObject({ text: texts.plainText, ended: true });
  });

  it("cuts the connection itself: HTTP never says that the body is complete", async () => {
    const { path, body } = client();
    const streamed = (prompt: string) => rawReply(mock.port, path, { ...body(prompt), stream: true });
    const cut = await streamed("[[cut:30,always]]");
    expect(cut.complete).toBe(false);
    expect(cut.text).toContain("200 OK");
    expect((await streamed("[[cut:30,always]]")).complete).toBe(false);
    expect((await streamed("[[text]]")).complete).toBe(true);
  });

  it("counts attempts of a conversation apart from another one's", async () => {
    const { path, body } = client();
    const named = { prompt_cache_key: "thread-2", metadata: { user_id: "session-2" } };
    await client().say("[[err:500,1]]");
    const other = await post(`${mock.url}${path}`, { ...body("[[err:500,1]]"), ...named });
    expect(other.status).toBe(500);
  });

  it("holds the stream at a gate until it is released", async () => {
    const answering = client().say("[[gate:half-way]]");
    await mock.gateHeld("half-way");
    expect(last()).toMatchObject({ scenario: "gate", outcome: "open" });
    mock.releaseGate("half-way");
    expect(await answering).toMatchObject({ text: texts.plainText, ended: true });
    expect(await client().say("[[gate:half-way]]")).toMatchObject({ text: texts.plainText });
  });

  it("notices a client that leaves", async () => {
    const { path, body } = client();
    const controller = new AbortController();
    const leaving = post(`${mock.url}${path}`, { ...body("[[gate:left]]"), stream: true }, controller.signal);
    await mock.gateHeld("left");
    controller.abort();
    await leaving.then((response) => response.text()).catch(() => undefined);
    const entry = await mock.waitForRequest(({ outcome }) => outcome !== "open");
    expect(entry).toMatchObject({ scenario: "gate", outcome: "client_closed" });
  });

  it("answers in one document where no stream was asked for", async () => {
    const { path, body } = client();
    const response = await post(`${mock.url}${path}`, body("[[shell:ls]]"));
    expect(response.headers.get("content-type")).toBe("application/json");
    const document: unknown = await response.json();
    const blocks = [...objectsAt(document, "output"), ...objectsAt(document, "content")];
    expect(blocks.map((block) => block["type"])).toEqual(
      dialect === "responses" ? ["message", "function_call"] : ["text", "tool_use"],
    );
  });
});

describe("responses in particular", () => {
  const say = (prompt: string) => responsesClient(mock.url).say(prompt);

  it("numbers its events, and repeats in `done` what the deltas said", async () => {
    const answer = await say("[[reasoning]]");
    expect(answer.events.map((event) => event["sequence_number"])).toEqual(answer.events.map((_, index) => index));
    expect(eventsOf(answer, "response.output_text.done")[0]?.["text"]).toBe(texts.afterReasoningText);
    const completed = objectAt(answer.events.at(-1), "response");
    expect(objectsAt(completed, "output").map((item) => item["type"])).toEqual(["reasoning", "message"]);
    expect(objectAt(completed, "usage")).toMatchObject({ input_tokens: expect.any(Number) });
  });

  it("writes a patch as plain text, and repeats the group of a grouped tool", async () => {
    const patched = await say("[[write:a.txt]]");
    expect(patched.calls).toMatchObject([
      { name: "apply_patch", input: expect.stringContaining("*** Add File: a.txt") },
    ]);
    expect((await say("[[subagent]]")).calls).toMatchObject([{ name: "spawn_agent", namespace: "multi_agent_v1" }]);
  });

  it("tells the plan twice, then ends", async () => {
    const conversation = responsesClient(mock.url);
    const first = await conversation.say("[[plan]]");
    const second = await conversation.results("Plan updated");
    expect([first, second].map((answer) => answer.calls[0]?.name)).toEqual(["update_plan", "update_plan"]);
    expect(inputs(first)).not.toEqual(inputs(second));
    expect((await conversation.results("Plan updated")).text).toBe(texts.afterPlanText);
  });

  it("proposes a plan as a block of text", async () => {
    expect((await say("[[exit_plan]]")).text).toBe(`<proposed_plan>\n${texts.proposedPlanText}</proposed_plan>\n`);
  });
});

describe("messages in particular", () => {
  it("signs its thinking and says why it stops", async () => {
    const conversation = messagesClient(mock.url);
    const thinking = await conversation.say("[[reasoning]]");
    expect(JSON.stringify(thinking.events)).toContain('"signature_delta"');
    const reason = (answer: Answer) => objectAt(eventsOf(answer, "message_delta")[0], "delta")?.["stop_reason"];
    expect(reason(thinking)).toBe("end_turn");
    expect(reason(await conversation.say("[[shell:ls]]"))).toBe("tool_use");
  });

  it("looks a deferred tool up and says nothing else meanwhile", async () => {
    const conversation = messagesClient(mock.url);
    await conversation.say(
      "<system-reminder>\nThe following deferred tools are now available via ToolSearch.\nTaskCreate\nTaskUpdate\n</system-reminder>",
    );
    const lookup = await conversation.say("[[plan]]");
    expect(lookup).toMatchObject({
      text: "",
      calls: [{ name: "ToolSearch", input: { query: "select:TaskCreate,TaskUpdate" } }],
    });
    await conversation.results("loaded");
    expect(last()).toMatchObject({ scenario: "plan", step: 0 });
  });

  it("writes a plan to the file that the runtime named, before it proposes it", async () => {
    const conversation = messagesClient(mock.url, [...claudeTools, ...claudeDeferredTools]);
    const reminder =
      "Plan mode is active.\n\n## Plan File Info:\nYou should create your plan at /home/x/plans/a-b.md now.";
    const file = await conversation.say(`<system-reminder>\n${reminder}\n</system-reminder>\n[[exit_plan]]`);
    const input = { file_path: "/home/x/plans/a-b.md", content: texts.proposedPlanText };
    expect(file.calls).toMatchObject([{ name: "Write", input }]);
    expect((await conversation.results("ok")).calls).toMatchObject([{ name: "ExitPlanMode" }]);
    expect((await conversation.results("approved")).text).toBe(texts.afterPlanText);
  });

  it("counts tokens and lists models", async () => {
    const counted = await post(`${mock.url}/v1/messages/count_tokens?beta=true`, { messages: [] });
    expect(await counted.json()).toEqual({ input_tokens: 1 });
    const list = await fetch(`${mock.url}/v1/models`, { headers: { "anthropic-version": "2023-06-01" } });
    expect(await list.json()).toMatchObject({ data: [{ type: "model", id: "mock-model" }, {}] });
    const openai = await fetch(`${mock.url}/v1/models`);
    expect(await openai.json()).toMatchObject({ object: "list", data: [{ id: "mock-model", object: "model" }, {}] });
  });
});
