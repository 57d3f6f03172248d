/** Recordings of the scripted runtime, as the journal exports them: its frames are canonical events already. */
import type { RuntimeRecord } from "@tributary/contracts";
import { makeTranslator, type NativeFrame } from "../translator.ts";
import { asObject, asText } from "../native.ts";
import { translate } from "./translate.ts";

const recordOf = ({ dir, msg }: NativeFrame): RuntimeRecord => {
  const frame = asObject(msg);
  if (dir === "out")
    return { kind: "call", dir, native: { kind: asText(frame?.["method"]) ?? "call", frame: msg }, events: [] };
  if (typeof msg === "string") return translate({ noise: msg });
  const reply = frame?.["reply"];
  return typeof reply === "number" ? translate({ reply }) : translate({ event: msg });
};

export const scriptedTranslator = makeTranslator<undefined>({
  runtime: "scripted",
  recoverable: true,
  initial: () => undefined,
  translate: (state, frame) => ({ state, records: [recordOf(frame)] }),
});
