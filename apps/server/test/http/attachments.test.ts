/** Attachments over real sockets: what is taken, how it comes back, and every way in which it may not be taken. */
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { assert, describe, it } from "@effect/vitest";
import { loadAdapter } from "@tributary/providers";
import { Effect } from "effect";
import type { OpenOptions } from "@tributary/contracts";
import { AttachmentLimits } from "../../src/http/attachments/limits.ts";
import { addInstance } from "../support/agents.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);

interface Upload {
  readonly body?: string | Buffer;
  readonly type?: string;
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const upload = (server: TestServer, { body = "hello", type = "text/plain", name, headers }: Upload = {}) =>
  server.call("/attachments", {
    raw: body as string,
    headers: { "content-type": type, ...(name === undefined ? {} : { "x-filename": name }), ...headers },
  });

/** Bytes of an answer, which `call` would decode. */
const download = async (server: TestServer, id: string) => {
  const response = await fetch(`${server.url}/attachments/${id}`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

const kept = (server: TestServer) => readdirSync(join(server.data, "attachments"));

/** Writes to a socket by hand, and gives what came back until the server closed it or `until` was in it. */
const raw = async (server: TestServer, text: string, { end = false, until = "\r\n\r\n" } = {}): Promise<string> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let got = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (got += piece));
  socket.on("error", () => {});
  await once(socket, "connect");
  if (end) socket.end(text);
  else socket.write(text);
  await new Promise<void>((resolve) => {
    socket.on("data", () => {
      if (got.includes(until)) resolve();
    });
    socket.on("close", () => resolve());
  });
  socket.destroy();
  return got;
};

const head = (server: TestServer, method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(server.url).host}`,
    `authorization: Bearer ${server.token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");

/** Waits until the folder of attachments is as it should be, which an answer does not tell when there is none. */
const settled = async (server: TestServer, names: number): Promise<void> => {
  while (kept(server).length !== names) await pause(5);
};

const test = (name: string, run: (server: TestServer) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(freshServer, (server) => Effect.promise(() => run(server))), 30_000);

describe("attachments over HTTP", () => {
  test("come back byte for byte, to be saved and never shown", async (server) => {
    const name = "Bild „eins“ (1).png";
    const sent = await upload(server, { body: png, type: "image/png; charset=x", name: encodeURIComponent(name) });
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.body));
    const { attachmentId } = sent.body;
    assert.match(attachmentId, /^att_[\w-]{22}$/);
    assert.deepInclude(sent.body, { mediaType: "image/png", size: png.length, name });
    const { response, bytes } = await download(server, attachmentId);
    assert.isTrue(bytes.equals(png));
    const { headers } = response;
    assert.strictEqual(headers.get("content-type"), "image/png");
    assert.strictEqual(headers.get("content-length"), String(png.length));
    assert.strictEqual(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /sandbox/);
    assert.strictEqual(
      headers.get("content-disposition"),
      `attachment; filename="Bild _eins_ (1).png"; filename*=UTF-8''Bild%20%E2%80%9Eeins%E2%80%9C%20%281%29.png`,
    );
    const html = await upload(server, { body: "<script>alert(1)</script>", type: "text/html" });
    const { response: page } = await download(server, html.body.attachmentId);
    assert.strictEqual(page.headers.get("content-disposition"), "attachment");
  });

  test("the same content twice is one file under two ids", async (server) => {
    const [one, two] = [await upload(server), await upload(server, { name: "b.txt" })];
    assert.notStrictEqual(one.body.attachmentId, two.body.attachmentId);
    assert.strictEqual(one.body.sha256, two.body.sha256);
    assert.lengthOf(kept(server), 1);
    const gone = await server.call(`/attachments/${one.body.attachmentId}`, { method: "DELETE" });
    assert.strictEqual(gone.status, 200);
    assert.strictEqual((await download(server, two.body.attachmentId)).bytes.toString(), "hello");
    assert.strictEqual((await server.call(`/attachments/${one.body.attachmentId}`)).status, 404);
  });

  test("GET /limits tells what may be attached", async (server) => {
    const { body } = await server.call("/limits");
    assert.deepInclude(body, { maxAttachmentBytes: 20 * 1024 * 1024, maxInputAttachments: 32 });
    assert.include(body.attachmentTypes, "image/webp");
    assert.notInclude(body.attachmentTypes, "image/svg+xml");
  });

  it.live.each<[string, Upload, number, RegExp]>([
    ["SVG", { body: "<svg/>", type: "image/svg+xml" }, 415, /image\/svg\+xml/],
    ["a program", { body: "MZ", type: "application/octet-stream" }, 415, /application\/octet-stream/],
    ["no type", { type: "" }, 415, /image\/png/],
    ["several types", { type: "image/png, text/plain" }, 415, /image\/png, text\/plain/],
    ["a JPEG that is called PNG", { body: jpeg, type: "image/png" }, 415, /not image\/png.*but image\/jpeg/],
    ["a text that is called PNG", { body: "<svg onload=x>", type: "image/png" }, 415, /not image\/png.*something else/],
    ["a PNG that is called text", { body: png, type: "text/plain" }, 415, /not text\/plain.*but image\/png/],
    ["a PDF that is called HTML", { body: "%PDF-1.7", type: "text/html" }, 415, /not text\/html.*but application\/pdf/],
    ["binary that is called text", { body: "a\u0000b", type: "text/plain" }, 415, /but binary data/],
    ["nothing", { body: "" }, 400, /empty/],
    ["half of a PNG's first bytes", { body: png.subarray(0, 4), type: "image/png" }, 415, /something else/],
  ])("refuses %s and keeps nothing", ([, what, status, says]) =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const { body, status: got } = yield* Effect.promise(() => upload(server, what));
      assert.strictEqual(got, status, JSON.stringify(body));
      assert.match(body.detail, says);
      assert.deepStrictEqual(kept(server), []);
    }),
  );

  test("names that lead elsewhere or deceive are refused, each with why", async (server) => {
    const refused: ReadonlyArray<readonly [string, RegExp]> = [
      ["..%2F..%2Fetc%2Fpasswd", /separator/],
      ["..", /folder/],
      ["%2e%2e", /folder/],
      ["a%5Cb.txt", /separator/],
      ["C%3A%5Cwindows", /separator/],
      ["a%00.png", /control/],
      ["a%0d%0aset-cookie:x", /control/],
      ["a%E2%80%AEgnp.exe", /direction/],
      ["a%E2%80%8Bb", /invisible/],
      ["a%F3%A0%81%A1.png", /invisible/],
      ["%E3%85%A4.png", /invisible/],
      // FULLWIDTH SOLIDUS and TWO DOT LEADER: a slash and two dots once they are normalised.
      ["a%EF%BC%8Fb", /separator/],
      ["%E2%80%A5", /folder/],
      ["CON", /device/],
      ["nul.txt", /device/],
      ["com1.tar.gz", /device/],
      ["%EF%BC%A3%EF%BC%AF%EF%BC%AE", /device/],
      ["trailing.", /dot/],
      ["trailing%20", /space/],
      ["x".repeat(4096), /255 bytes/],
      ["%F0%9F%98%80".repeat(64), /255 bytes/],
      ["%E0%A4%A", /percent-encoded/],
      ["%ED%A0%80", /percent-encoded/],
    ];
    for (const [name, why] of refused) {
      const { status, body } = await upload(server, { name });
      assert.strictEqual(status, 400, name);
      assert.match(body.detail, why, name);
    }
    assert.deepStrictEqual(kept(server), []);
    // The same name, composed: how it is written does not tell two files apart.
    const composed = await upload(server, { name: "e%CC%81.txt" });
    assert.strictEqual(composed.body.name, "\u00e9.txt");
    for (const name of ["console.log", "a b.txt", "%E6%97%A5%E6%9C%AC.png", "x".repeat(255), "12%3A30.png"])
      assert.strictEqual((await upload(server, { name })).status, 200, name);
  });

  test("ids that are paths find nothing, however they are written", async (server) => {
    const { body } = await upload(server);
    const ids = [
      "../main.db",
      "..%2fmain.db",
      "%2e%2e/main.db",
      "%2e%2e%2fmain.db",
      "..%5cmain.db",
      "..",
      ".",
      "%00",
      `${body.attachmentId}%00`,
      `${body.attachmentId}%00.png`,
      body.sha256,
      `../attachments/${body.sha256}`,
      "%2Fetc%2Fpasswd",
      "CON",
      "a".repeat(4096),
      "%E2%80%AE",
      "%ED%A0%80",
      `${body.attachmentId}/..`,
      body.attachmentId.toUpperCase(),
      "' OR 1=1 --",
    ];
    for (const id of ids)
      for (const method of ["GET", "DELETE"]) {
        const answer = await raw(server, head(server, method, `/attachments/${id.replaceAll(" ", "%20")}`));
        assert.match(answer, /^HTTP\/1\.1 (400|404|405) /, `${method} ${id}`);
        assert.notMatch(answer, /hello|SQLite format/, id);
      }
    assert.lengthOf(kept(server), 1);
  });

  test("links in the folder are not followed, over HTTP either", async (server) => {
    const { body } = await upload(server);
    const path = join(server.data, "attachments", body.sha256);
    rmSync(path);
    symlinkSync(join(server.data, "token"), path);
    const gone = await server.call(`/attachments/${body.attachmentId}`);
    assert.strictEqual(gone.status, 404);
    assert.match(gone.body.detail, /expired.*Attach it again/);
  });

  test("what is too large by its length is refused before it is read, what is chunked as soon as it is", async (server) => {
    const declared = await raw(
      server,
      head(server, "POST", "/attachments", {
        "content-type": "text/plain",
        "content-length": String(21 * 1024 * 1024),
      }),
    );
    assert.match(declared, /^HTTP\/1\.1 413 /);
    const status = await new Promise<number | string>((resolve) => {
      const sending = request(`${server.url}/attachments`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.token}`, "content-type": "text/plain" },
      });
      sending.on("response", (response) => resolve(response.resume().statusCode ?? 0));
      // The server may close the connection while we still write.
      sending.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
      let left = 400;
      const write = (): void => {
        while (left > 0 && !sending.destroyed) {
          left -= 1;
          if (!sending.write("x".repeat(64 * 1024))) return void sending.once("drain", write);
        }
        sending.end();
      };
      write();
    });
    assert.include([413, "EPIPE", "ECONNRESET"], status);
    await settled(server, 0);
    assert.strictEqual((await upload(server)).status, 200);
  });

  test("lengths that lie, and uploads that are cut off, leave nothing", async (server) => {
    const headers = { "content-type": "text/plain", "content-length": "100" };
    await raw(server, `${head(server, "POST", "/attachments", headers)}only this`, { end: true, until: "never" });
    await settled(server, 0);
    // More than was said: what is over is no part of it, and no request either.
    const more = await raw(
      server,
      `${head(server, "POST", "/attachments", { ...headers, "content-length": "5" })}hello, world`,
    );
    assert.match(more, /^HTTP\/1\.1 (200|400) /);
    const chunked = { "content-type": "text/plain", "transfer-encoding": "chunked" };
    // Whether "hello" was kept is a race with the fault behind it; what is looked at here is what is being written.
    const drafts = () => kept(server).filter((name) => name.startsWith("draft-")).length;
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(`${head(server, "POST", "/attachments", chunked)}400\r\n${"x".repeat(1024)}\r\n`);
    while (drafts() === 0) await pause(5);
    socket.destroy();
    while (drafts() > 0) await pause(5);
    // Both at once is how requests are smuggled.
    const both = await raw(server, `${head(server, "POST", "/attachments", { ...headers, ...chunked })}0\r\n\r\n`);
    assert.match(both, /^HTTP\/1\.1 400 /);
  });

  test("slow uploads, and many of the same at once, are as good as any other", async (server) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let got = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (got += piece));
    await once(socket, "connect");
    const headers = { "content-type": "text/plain", "transfer-encoding": "chunked" };
    socket.write(head(server, "POST", "/attachments", headers));
    for (const letter of "slowly") {
      socket.write(`1\r\n${letter}\r\n`);
      const quick = await Promise.all([upload(server, { body: letter }), upload(server, { body: letter })]);
      assert.deepStrictEqual(
        quick.map(({ status }) => status),
        [200, 200],
      );
    }
    socket.write("0\r\n\r\n");
    while (!got.includes('"size":6')) await pause(5);
    socket.destroy();
    const same = await Promise.all(Array.from({ length: 20 }, () => upload(server, { body: png, type: "image/png" })));
    assert.strictEqual(new Set(same.map(({ body }) => body.attachmentId)).size, 20);
    // "slowly" has five different letters, one of them twice.
    assert.lengthOf(kept(server), 5 + 1 + 1);
  });

  it.live("all together have a limit, which is told", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders);
      yield* Effect.promise(async () => {
        assert.strictEqual((await upload(server, { body: "x".repeat(900) })).status, 200);
        const full = await upload(server, { body: "y".repeat(900) });
        assert.strictEqual(full.status, 507);
        assert.strictEqual(full.body.code, "attachments_full");
        assert.match(full.body.detail, /purge threads/);
        assert.lengthOf(kept(server), 1);
      });
    }).pipe(Effect.provideService(AttachmentLimits, { maxBytes: 1_000, maxTotalBytes: 1_500 })),
  );
});

describe("attachments of inputs", () => {
  it.live(
    "reach the agent as files, belong to the thread, and go with it",
    () =>
      Effect.gen(function* () {
        const opened: Array<OpenOptions> = [];
        const scripted = yield* Effect.promise(async () => loadAdapter("scripted"));
        if (scripted === undefined) throw new Error("there is no scripted runtime");
        const adapter = {
          ...scripted,
          open: (options: OpenOptions) => {
            opened.push(options);
            return scripted.open(options);
          },
        };
        const server = yield* startServer(yield* temporaryFolders, { adapters: { scripted: adapter } });
        const script = { name: "seeing", capabilities: { images: true }, otherwise: [{ do: "text", text: "I see." }] };
        yield* addInstance(server, "seeing", script);
        yield* addInstance(server, "blind", { name: "blind", otherwise: [{ do: "text", text: "Nothing." }] });
        yield* Effect.promise(async () => {
          await server.call("/projects", { body: { projectId: "P", root: server.work } });
          const { body: image } = await upload(server, { body: png, type: "image/png", name: "one.png" });
          const id = image.attachmentId;
          const input = { inputId: "i", text: "look", attachments: [{ id, name: "../../x", mimeType: "text/html" }] };
          const create = (threadId: string, instance: string) =>
            server.call("/threads", {
              body: { threadId, instance, cwd: server.work, input: { ...input, inputId: `i${threadId}` } },
            });
          assert.strictEqual((await create("T", "seeing")).status, 200);
          const rows = async (threadId: string) => (await server.call(`/threads/${threadId}`)).body.rows;
          const until = async (
            threadId: string,
            found: (rows: ReadonlyArray<{ readonly role?: string }>) => boolean,
          ) => {
            while (!found(await rows(threadId))) await pause(10);
          };
          await until("T", (all) => all.some(({ role }) => role === "assistant"));
          const [said] = await rows("T");
          // What is known of it, not what the client said.
          assert.deepStrictEqual(said.attachments, [{ id, name: "one.png", mimeType: "image/png" }]);
          const path = opened[0]?.attachmentPath?.(id) ?? "";
          assert.isTrue(readFileSync(path).equals(png));
          assert.isUndefined(opened[0]?.attachmentPath?.("../token"));

          const used = await server.call(`/attachments/${id}`, { method: "DELETE" });
          assert.deepInclude(used, { status: 409 });
          assert.strictEqual(used.body.code, "attachment_in_use");

          // Never left out in silence.
          await create("B", "blind");
          const failed = async () => (await server.call("/threads/B/inputs")).body.inputs[0];
          while ((await failed())?.state !== "failed") await pause(10);
          assert.strictEqual((await failed()).error.code, "attachments");

          for (const threadId of ["T", "B"]) {
            assert.lengthOf(kept(server), 1);
            const removed = await server.call(`/threads/${threadId}?purge=true`, { method: "DELETE" });
            assert.strictEqual(removed.status, 200, JSON.stringify(removed.body));
          }
          await settled(server, 0);
          assert.strictEqual((await server.call(`/attachments/${id}`)).status, 404);
        });
      }),
    30_000,
  );

  test("that nobody knows have the input refused", async (server) => {
    const input = { inputId: "i", text: "look", attachments: [{ id: "att_none" }] };
    const refused = await server.call("/threads", {
      body: { threadId: "T", instance: "demo", cwd: server.work, input },
    });
    assert.deepInclude(refused.body, { status: 409, code: "attachment_not_found" });
    assert.match(refused.body.detail, /att_none/);
    const many = await server.call("/threads", {
      body: {
        threadId: "T",
        instance: "demo",
        cwd: server.work,
        input: { ...input, attachments: Array.from({ length: 33 }, (_, index) => ({ id: `a${index}` })) },
      },
    });
    assert.strictEqual(many.status, 400);
  });
});
