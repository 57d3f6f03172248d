import type { Dialect } from "../dialect.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

/** Every dialect; the first that knows a request answers it. A new one is a file here and a line in this list. */
export const dialects: ReadonlyArray<Dialect> = [messages, responses];
