/** The lines of a scenario file (design section 11): what each may say, and what is filled in when it does not say it. */
import { Generation, Id } from "@tributary/contracts";
import { Schema } from "effect";

const opt = Schema.optionalKey;
const AnyRecord = Schema.Record(Schema.String, Schema.Unknown);

/** What the stub does from now on when it is asked: `accept`, `fail:<code>`, or `hang` (never answers). */
export const Behaviour = Schema.String.check(Schema.isPattern(/^(accept|hang|fail:.+)$/));

const StubBehaviours = Schema.Struct({
  open: opt(Behaviour),
  prompt: opt(Behaviour),
  steer: opt(Behaviour),
  answer: opt(Behaviour),
  interrupt: opt(Behaviour),
  configure: opt(Behaviour),
  close: opt(Behaviour),
});
export type StubBehaviours = typeof StubBehaviours.Type;

/**
 * One line. `event` and `command` are checked where they are used: a bad canonical event is ingestion's business, and a
 * case worth a scenario. `rebuild` is ours beside the documented ones: projections are rebuilt from the log.
 */
export const Line = Schema.Union([
  Schema.Struct({ command: AnyRecord }),
  Schema.Struct({
    event: Schema.StructWithRest(Schema.Struct({ threadId: opt(Id), generation: opt(Generation) }), [AnyRecord]),
  }),
  Schema.Struct({ stub: StubBehaviours }),
  Schema.Struct({ capabilities: AnyRecord }),
  Schema.Struct({ advance: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) }),
  Schema.Struct({ drain: Schema.Literal(true) }),
  Schema.Struct({ crash: Schema.Union([Schema.Literal(true), Schema.Literal("replay")]) }),
  Schema.Struct({ restart: Schema.Literal(true) }),
  Schema.Struct({ rebuild: Schema.Literal(true) }),
  Schema.Struct({ snapshot: Schema.String }),
  Schema.Struct({
    feed: Schema.Struct({ runtime: Schema.String, file: Schema.String, threadId: opt(Id) }),
  }),
]);
export type Line = typeof Line.Type;

/** A numbered line of a script (from 1; blank lines and `//` comments count but make none). */
export interface NumberedLine {
  readonly number: number;
  readonly line: Line;
}

/** The file is not a scenario: which line, and what is wrong with it. */
export class ScenarioFileError extends Schema.TaggedError<ScenarioFileError>()("ScenarioFileError", {
  line: Schema.Int,
  message: Schema.String,
}) {}

const decode = Schema.decodeUnknownSync(Line, { onExcessProperty: "error" });

/** Reads a script. Throws `ScenarioFileError` for the first line that is not one. */
export const parseScript = (text: string): ReadonlyArray<NumberedLine> =>
  text.split("\n").flatMap((raw, index) => {
    const source = raw.trim();
    if (source === "" || source.startsWith("//")) return [];
    try {
      return [{ number: index + 1, line: decode(JSON.parse(source)) }];
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ScenarioFileError({ line: index + 1, message: `line ${index + 1} is no scenario line: ${why}` });
    }
  });
