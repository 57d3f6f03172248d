import { describe, expect, it } from "vitest";
import { environmentSecrets, Secrets } from "../src/secrets.ts";

describe("secrets", () => {
  it("are replaced in texts and in every part of a record, escaped or not", () => {
    const secrets = new Secrets(['sk-"quoted"\n1', "sk-1234567890", "sk-1234567890-longer"]);
    expect(secrets.text("a sk-1234567890-longer b sk-1234567890 c")).toBe("a ••• b ••• c");
    const record = secrets.record({
      kind: "frame",
      native: { kind: "x", frame: { deep: ['say sk-"quoted"\n1!'], "sk-1234567890": 1 } },
      events: [{ type: "notice", payload: { level: "info", code: "c", message: "sk-1234567890" } }],
    });
    expect(JSON.stringify(record)).not.toContain("sk-");
    expect(record.events[0]?.payload).toMatchObject({ message: "•••" });
  });

  it("leave a record as it is where there are none", () => {
    const record = { kind: "frame", native: { kind: "x", frame: "abcdefgh" }, events: [] } as const;
    expect(new Secrets().record(record)).toBe(record);
    expect(new Secrets(["zzzzzzzz"]).record(record)).toBe(record);
  });

  it("are no switches and no folders", () => {
    const env = {
      A: "/home/dev/x",
      B: "C:\\Users\\x",
      TOKEN_FILE: "/run/token",
      C: "some-value-here",
      PATH: "~/bin:/usr/bin",
    };
    expect(environmentSecrets(env)).toEqual(["/run/token", "some-value-here"]);
    expect(new Secrets(["true", "1"]).text("true 1")).toBe("true 1");
  });

  it("may be added later", () => {
    const secrets = new Secrets();
    secrets.add(["abcdefgh"]);
    expect(secrets.text("abcdefgh")).toBe("•••");
  });
});
