/** An upload that is looked at while it passes: its first bytes are held back until they were seen to be what they should be. */
import { BadRequest, UnsupportedMediaType } from "@tributary/contracts/api";
import type { AttachmentType } from "@tributary/contracts/api";
import { Effect, Stream } from "effect";
import { headBytes, lie } from "./media-types.ts";

const empty = new Uint8Array(0);

/** Fails with nothing passed on when the content is empty, or is not of its type. */
export const checked = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  type: AttachmentType,
): Stream.Stream<Uint8Array, E | BadRequest | UnsupportedMediaType, R> =>
  Stream.suspend(() => {
    let held: Uint8Array | undefined = empty;
    const release = Effect.suspend((): Effect.Effect<Uint8Array, BadRequest | UnsupportedMediaType> => {
      const head = held ?? empty;
      held = undefined;
      if (head.length === 0)
        return Effect.fail(
          new BadRequest({ detail: "The attachment is empty: send its content as the body.", userAction: "none" }),
        );
      const found = lie(type, head);
      return found === undefined
        ? Effect.succeed(head)
        : Effect.fail(
            new UnsupportedMediaType({
              detail: `The content is not ${type}, as \`Content-Type\` says, but ${found}: name what it is, or send another one.`,
              userAction: "none",
            }),
          );
    });
    const passing = Stream.mapEffect(content, (bytes) => {
      if (held === undefined) return Effect.succeed(bytes);
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      return held.length < headBytes ? Effect.succeed(empty) : release;
    });
    const rest = Stream.unwrap(
      Effect.suspend(() => (held === undefined ? Effect.succeed(Stream.empty) : Effect.map(release, Stream.succeed))),
    );
    return Stream.concat(passing, rest);
  });
