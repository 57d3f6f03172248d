/** Model, effort and other options: honoured and read back, or refused. Never something else in silence. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ProblemError } from "../client/client.ts";
import type { CaseGroup, Stage } from "../case.ts";
import { needsApprovals } from "../case.ts";

const values: Readonly<Record<string, unknown>> = {
  serviceTier: "fast",
  disallowedTools: ["Bash"],
  systemPrompt: "Be brief.",
  mcpServers: [{ name: "none", transport: "stdio", command: "true" }],
};

/** What becomes of an option: refused before or at the opening, or what the session says that it has. */
const tried = async (stage: Stage, option: "model" | "effort", value: string): Promise<string | undefined> => {
  try {
    const thread = await stage.thread({ [option]: value });
    const outcome = await thread.outcome(await thread.say(stage.prompts.text.prompt));
    if (outcome.type === "input.failed") {
      expect(outcome.payload.error.message, "says which option").toContain(option);
      return undefined;
    }
    const [configured] = thread.feed.all("session.configured").slice(-1);
    const [session] = thread.feed.all("session.started");
    return configured?.payload[option] ?? session?.payload[option];
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    expect(error.problem.code).toBe("unsupported_option");
    return undefined;
  }
};

/** A PNG of one pixel. */
const pixel = Uint8Array.from(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);

export const settings: CaseGroup = {
  name: "settings",
  cases: [
    {
      name: "model: read back, or refused",
      run: async (stage) => {
        const { model } = stage.driver;
        if (model !== undefined) expect(await tried(stage, "model", model)).toBe(model);
        expect([undefined, "no-such-model"]).toContain(await tried(stage, "model", "no-such-model"));
      },
    },
    {
      name: "effort: read back, or refused",
      run: async (stage) => {
        const { effort } = stage.driver;
        if (effort !== undefined) expect(await tried(stage, "effort", effort)).toBe(effort);
        expect([undefined, "no-such-effort"]).toContain(await tried(stage, "effort", "no-such-effort"));
      },
    },
    {
      name: "changed while the session runs",
      skip: needsApprovals,
      run: async (stage) => {
        const { prompts, driver } = stage;
        const thread = await stage.thread();
        await thread.runAsking(prompts.shell("echo asked > asked.txt"), "allow");
        await thread.client.configure(thread.id, {
          approvalMode: "full_access",
          ...(driver.model === undefined ? {} : { model: driver.model }),
        });
        const free = await thread.run(prompts.shell("echo free > free.txt"));
        expect(free.end.state).toBe("completed");
        expect(readFileSync(join(thread.cwd, "free.txt"), "utf8")).toBe("free\n");
        const byPerson = thread.feed.all("request.answered").filter(({ payload }) => payload.by?.kind === "client");
        expect(byPerson).toHaveLength(1);
        const { thread: shell } = await thread.page();
        expect(shell.approvalMode).toBe("full_access");
        if (driver.model !== undefined) expect(shell.model?.value).toBe(driver.model);
        await thread.client.configure(thread.id, { approvalMode: "ask" });
        const asked = await thread.runAsking(prompts.shell("echo again > again.txt"), "allow");
        expect(asked.end.state).toBe("completed");
      },
    },
    {
      name: "options that the instance refuses are refused before anything starts",
      fast: true,
      skip: ({ capabilities }) =>
        Object.keys(capabilities.refusedOptions).length === 0 ? "the instance refuses no option" : undefined,
      run: async (stage) => {
        for (const option of Object.keys(stage.facts.capabilities.refusedOptions)) {
          const refused = await stage.thread({ [option]: values[option] ?? "anything" }).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (!(refused instanceof ProblemError)) throw new Error(`${option} was not refused: ${String(refused)}`);
          expect(refused.problem).toMatchObject({ code: "unsupported_option" });
          expect(refused.problem.detail).toContain(option);
        }
      },
    },
    {
      name: "images: taken, or refused and named",
      run: async (stage) => {
        const thread = await stage.thread();
        const id = await thread.client.attach(pixel, "image/png");
        const input = { inputId: randomUUID(), text: stage.prompts.text.prompt, attachments: [{ id }] };
        const receipt = await thread.client.submit(thread.id, input);
        const outcome = await thread.outcome({ inputId: input.inputId, receipt });
        if (stage.facts.capabilities.images) {
          expect(outcome).toMatchObject({ type: "turn.ended", payload: { state: "completed" } });
          const { rows } = await thread.page();
          expect(rows).toContainEqual(
            expect.objectContaining({ rowId: input.inputId, attachments: [{ id, mimeType: "image/png" }] }),
          );
        } else {
          expect(outcome).toMatchObject({ type: "input.failed", payload: { error: { code: "attachments" } } });
        }
      },
    },
  ],
};
