import { afterEach, assert, describe, it, vi } from "vitest";
import { TributaryError, webSocketTransport } from "../src/index.ts";
import { against, json } from "./handler.ts";

const receipt = { status: "accepted", commandId: "c", sequence: 7 };

const failure = async (promise: Promise<unknown>): Promise<TributaryError> => {
  try {
    await promise;
  } catch (error) {
    assert.instanceOf(error, TributaryError);
    return error;
  }
  return assert.fail("it did not fail");
};

describe("a call", () => {
  it("puts parameters, query and body where the contract has them, and the token in a header", async () => {
    const { client, asked } = against(() => json({ requests: [] }));
    await client.requests.list({ query: { state: "pending", limit: 5 } });
    await client.threads.interrupt({ params: { threadId: "a/b?c" }, payload: { turnId: "t" } });
    assert.deepInclude(asked[0], {
      method: "GET",
      path: "/requests?state=pending&limit=5",
      token: "Bearer secret",
      key: null,
    });
    assert.deepInclude(asked[1], { method: "POST", path: "/threads/a%2Fb%3Fc/interrupt", body: { turnId: "t" } });
    assert.isFalse(asked.some(({ path }) => path.includes("secret")));
  });

  it("that is refused fails with the problem's code, words and next step", async () => {
    const body = {
      type: "urn:tributary:problem:command_rejected",
      status: 409,
      code: "busy",
      detail: "A turn runs.",
      userAction: "wait",
      commandId: "c",
      resend: "safe",
      retryAt: "2026-01-01T00:00:00Z",
      details: { turnId: "t" },
    };
    const { client, asked } = against(() => json(body, 409));
    const error = await failure(client.threads.release({ params: { threadId: "T" } }));
    const { code, detail, userAction, resend, retryAt, details, status } = error;
    assert.deepStrictEqual(
      { code, detail, userAction, resend, retryAt, details, status },
      {
        code: "busy",
        detail: "A turn runs.",
        userAction: "wait",
        resend: "safe",
        retryAt: body.retryAt,
        details: { turnId: "t" },
        status: 409,
      },
    );
    assert.lengthOf(asked, 1);
  });

  it("without an answer is repeated under the same key (pain 20)", async () => {
    let tries = 0;
    const { client, asked } = against(() => {
      tries += 1;
      if (tries === 1) throw new TypeError("fetch failed");
      if (tries === 2) return json({ code: "unavailable", detail: "full", userAction: "retry", resend: "safe" }, 503);
      if (tries === 3) return new Response("<html>bad gateway</html>", { status: 502 });
      return json({ inputId: "i", receipt });
    });
    const answer = await client.inputs.submit({ params: { threadId: "T" }, payload: { text: "hello" } });
    assert.deepStrictEqual(answer as unknown, { inputId: "i", receipt });
    assert.lengthOf(asked, 4);
    assert.lengthOf(new Set(asked.map(({ key }) => key)), 1);
    assert.match(asked[0]?.key ?? "", /^[0-9a-f]{32}$/);
  });

  it("is repeated so often and no more, and says that nobody answers", async () => {
    const { client, asked } = against(
      () => {
        throw new TypeError("fetch failed");
      },
      { retry: { attempts: 2 } },
    );
    assert.strictEqual((await failure(client.threads.list())).code, "unreachable");
    assert.lengthOf(asked, 3);
  });

  it("that has no key is made once: it could act twice", async () => {
    const { client, asked } = against(() => {
      throw new TypeError("fetch failed");
    });
    await failure(client.maintenance.rebuild());
    assert.lengthOf(asked, 1);
  });

  it("can be given up while it waits for its next try", async () => {
    const abort = new AbortController();
    const { client, asked } = against(
      () => {
        setTimeout(() => abort.abort(new Error("enough")), 1);
        throw new TypeError("fetch failed");
      },
      { retry: { baseMs: 60_000, maxMs: 60_000 } },
    );
    let caught: unknown;
    await client.threads.list({ signal: abort.signal }).catch((error: unknown) => {
      caught = error;
    });
    assert.strictEqual((caught as Error).message, "enough");
    assert.lengthOf(asked, 1);
  });

  it("answered by something that is not Tributary says so", async () => {
    const { client } = against(
      () => new Response("<h1>Login</h1>", { status: 403, headers: { "content-type": "text/html" } }),
    );
    assert.deepInclude(await failure(client.threads.list()), { code: "http_403", userAction: "none" });
  });
});

describe("a WebSocket", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("that the platform does not have is asked for at once", () => {
    vi.stubGlobal("WebSocket", undefined);
    try {
      webSocketTransport({ url: "http://x", token: "t" });
      assert.fail("it did not fail");
    } catch (error) {
      assert.instanceOf(error, TributaryError);
      assert.deepInclude(error, { code: "no_websocket", userAction: "none" });
    }
  });
});
