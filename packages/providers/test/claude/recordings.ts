import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RuntimeEvent, RuntimeEventOf, RuntimeEventType, RuntimeRecord } from "@tributary/contracts";
import { claudeTranslator } from "../../src/claude/translate.ts";
import { normalizeRecords } from "../../src/normalize.ts";
import { readRecording } from "../../src/recording.ts";
import type { NativeFrame } from "../../src/translator.ts";

const folder = fileURLToPath(new URL("fixtures", import.meta.url));

/** Names of all recordings of Claude Code, without their ending. */
export const recordingNames: ReadonlyArray<string> = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ndjson"))
  .map((name) => name.replaceAll("\\", "/").slice(0, -".ndjson".length))
  .toSorted();

export const textOf = (name: string): string => readFileSync(`${folder}/${name}.ndjson`, "utf8");

export const framesOf = (name: string): ReadonlyArray<NativeFrame> =>
  [...readRecording(textOf(name))].flatMap((line) => (line.kind === "frame" ? [{ dir: line.dir, msg: line.msg }] : []));

/** A native object of a recording. */
export type Native = { readonly [key: string]: unknown };

/** What stands at a path in it. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (found, key) => (found as { readonly [key: string | number]: unknown } | undefined)?.[key],
    value,
  );

export const nativeOf = (name: string, type: string, subtype?: string): ReadonlyArray<Native> =>
  framesOf(name)
    .filter(({ dir }) => dir === "in")
    .map(({ msg }) => msg as Native)
    .filter((msg) => msg["type"] === type && (subtype === undefined || msg["subtype"] === subtype));

/** What frames become, in order. */
export class Story {
  readonly records: ReadonlyArray<RuntimeRecord>;
  readonly events: ReadonlyArray<RuntimeEvent>;

  constructor(records: ReadonlyArray<RuntimeRecord>) {
    this.records = records;
    this.events = records.flatMap(({ events }) => events);
  }

  static of(name: string): Story {
    return new Story([...normalizeRecords("claude", textOf(name))].map(({ record }) => record));
  }

  static ofFrames(frames: ReadonlyArray<NativeFrame>, generation = 1): Story {
    const translate = claudeTranslator.start({ generation });
    return new Story(frames.flatMap((frame) => translate(frame)));
  }

  all<T extends RuntimeEventType>(type: T): ReadonlyArray<RuntimeEventOf<T>> {
    // The compiler can't narrow a union by a generic member.
    return this.events.filter((event) => event.type === type) as unknown as ReadonlyArray<RuntimeEventOf<T>>;
  }

  payloads<T extends RuntimeEventType>(type: T) {
    return this.all(type).map(({ payload }) => payload);
  }

  /** Items of a type in the order of their end, with everything that was said of them merged. */
  items(itemType: string) {
    const ended = this.all("item.completed").filter(({ payload }) => payload.itemType === itemType);
    return ended.map((end) => {
      const before = this.events.filter(
        (event) => event.itemId === end.itemId && (event.type === "item.started" || event.type === "item.updated"),
      );
      return Object.assign({}, ...before.map(({ payload }) => payload), end.payload) as typeof end.payload;
    });
  }

  /** Messages of an agent as people read them: what streamed, corrected by its whole, without what was taken back. */
  messages(agentPath: ReadonlyArray<string> = []): ReadonlyArray<string> {
    const texts = new Map<string, string>();
    for (const event of this.events) {
      const { itemId = "" } = event;
      if ((event.agentPath ?? []).join("/") !== agentPath.join("/")) continue;
      if (event.type === "content.delta" && event.payload.stream === "assistant_text")
        texts.set(itemId, (texts.get(itemId) ?? "") + event.payload.text);
      if (event.type === "content.retracted") texts.delete(itemId);
      if (event.type === "item.completed" && event.payload.itemType === "assistant_message")
        texts.set(itemId, event.payload.text ?? texts.get(itemId) ?? "");
    }
    return [...texts.values()];
  }
}
