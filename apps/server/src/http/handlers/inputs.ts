import { Api } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { calls } from "../calls.ts";
import { commandIdOf, derivedId, dispatch } from "../commands.ts";
import { badRequest, storeProblem } from "../problems.ts";
import { existing } from "../reads.ts";

interface Said {
  readonly text: string;
  readonly attachments?: ReadonlyArray<unknown> | undefined;
  readonly planId?: string | undefined;
}

/** Agents make nothing of nothing: an input has words, a file, or a plan that it accepts. */
export const saysSomething = (input: Said | undefined, path: ReadonlyArray<string>) =>
  input === undefined || input.text.trim() !== "" || (input.attachments ?? []).length > 0 || input.planId !== undefined
    ? Effect.void
    : Effect.fail(badRequest("The input is empty: give it a `text`, or attach something.", [...path, "text"]));

/** What people say to a thread, and its queue. */
export const inputCalls = calls("inputs")({
  list: Effect.fnUntraced(function* ({ params: { threadId } }) {
    yield* existing(threadId);
    const views = yield* Views;
    return { inputs: yield* Effect.mapError(views.inputs(threadId), storeProblem) };
  }),
  submit: ({ headers, params, payload }) => {
    const commandId = commandIdOf(headers);
    const inputId = payload.inputId ?? derivedId(commandId, "input");
    const submit = dispatch({ type: "input.submit", commandId, ...params, ...payload, inputId });
    return Effect.andThen(
      saysSomething(payload, ["payload"]),
      Effect.map(submit, (receipt) => ({ inputId, receipt })),
    );
  },
  edit: ({ headers, params, payload: { text, state } }) => {
    const base = { commandId: commandIdOf(headers), ...params };
    if (text !== undefined && state === undefined) return dispatch({ type: "input.edit", ...base, text });
    if (state !== undefined && text === undefined) return dispatch({ type: `input.${state}`, ...base });
    return Effect.fail(badRequest("Give either `text` or `state`: a call is one command.", ["payload"]));
  },
  withdraw: ({ headers, params }) => dispatch({ type: "input.withdraw", commandId: commandIdOf(headers), ...params }),
});

export const inputs = HttpApiBuilder.group(Api, "inputs", (handlers) => handlers.handleAll(inputCalls));
