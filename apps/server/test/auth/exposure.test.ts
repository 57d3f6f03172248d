import { assert, describe, it } from "vitest";
import { exposureOf, exposureProblem } from "../../src/auth/exposure.ts";
import { addressOf, isEncrypted } from "../../src/auth/reach.ts";
import { Option } from "effect";

const pin = "sha256/x";

describe("listening", () => {
  it.each([
    { host: "127.0.0.1" },
    { host: "localhost" },
    { host: "::1" },
    { host: "127.1.2.3" },
    { host: "0.0.0.0", pin },
    { host: "192.168.1.20", pin },
    { host: "0.0.0.0", tunnel: "https://name.example" },
    { host: "127.0.0.1", tunnel: "https://name.example/" },
  ])("is safe: %j", (options) => {
    assert.isUndefined(exposureProblem(options));
  });

  it.each([
    { host: "0.0.0.0" },
    { host: "192.168.1.20" },
    { host: "::" },
    { host: "127.0.0.1.evil.example" },
    { host: "127.0.0.1", tunnel: "http://name.example" },
    { host: "127.0.0.1", tunnel: "https://name.example/path" },
    { host: "127.0.0.1", tunnel: "https://me@name.example" },
    { host: "127.0.0.1", tunnel: "yes" },
  ])("is refused: %j", (options) => {
    assert.match(exposureProblem(options) ?? "", /--t/);
  });

  it("says where others find it, and the names that it then has", () => {
    assert.deepStrictEqual(exposureOf({ host: "127.0.0.1" }, 4417, ["10.0.0.2"]), {
      url: "http://127.0.0.1:4417",
      reach: { url: "http://127.0.0.1:4417", tunnel: false },
      hosts: [],
    });
    assert.deepStrictEqual(exposureOf({ host: "0.0.0.0", pin }, 4417, ["10.0.0.2", "fd00::1"]), {
      url: "https://127.0.0.1:4417",
      reach: { url: "https://10.0.0.2:4417", tunnel: false, pin },
      hosts: ["10.0.0.2", "[fd00::1]"],
    });
    assert.deepStrictEqual(exposureOf({ host: "127.0.0.1", tunnel: "https://name.example" }, 4417, []), {
      url: "http://127.0.0.1:4417",
      reach: { url: "https://name.example", tunnel: true },
      hosts: ["name.example"],
    });
  });
});

describe("the address of a caller", () => {
  const remoteAddress = Option.some("10.0.0.9");
  const headers = { "x-forwarded-for": "1.2.3.4, 203.0.113.7" };

  it("is the socket's: what a header says is anybody's word", () => {
    assert.strictEqual(addressOf({ headers: headers as never, remoteAddress }, { url: "", tunnel: false }), "10.0.0.9");
  });

  it("is what the tunnel wrote last, behind a tunnel", () => {
    const tunnel = { url: "https://name.example", tunnel: true };
    assert.strictEqual(addressOf({ headers: headers as never, remoteAddress }, tunnel), "203.0.113.7");
    assert.strictEqual(
      addressOf({ headers: { "x-forwarded-for": "<script>" } as never, remoteAddress }, tunnel),
      "10.0.0.9",
    );
    assert.isTrue(isEncrypted({ headers: { host: "name.example" } as never }, tunnel));
    assert.isFalse(isEncrypted({ headers: { host: "127.0.0.1:4417" } as never }, tunnel));
  });
});
