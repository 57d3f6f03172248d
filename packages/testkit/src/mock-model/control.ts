import type { JsonAnswer, RequestLine } from "./dialect.ts";
import type { Gates } from "./gates.ts";
import type { Journal } from "./journal.ts";

/** What the control endpoints act on. */
interface Controlled {
  readonly journal: Journal;
  readonly gates: Gates;
  readonly reset: () => void;
}

const prefix = "/__mock/";

/**
 * For a mock in a process of its own: `GET /__mock/journal`, `POST /__mock/gates/NAME`, `POST /__mock/reset`.
 * Undefined: the request is not for us.
 */
export const answerControl = (line: RequestLine, mock: Controlled): JsonAnswer | undefined => {
  if (!line.path.startsWith(prefix)) return undefined;
  const [what, name] = line.path.slice(prefix.length).split("/");
  if (line.method === "GET" && what === "journal") return { status: 200, body: mock.journal.entries() };
  if (line.method === "POST" && what === "gates" && name !== undefined && name !== "") {
    mock.gates.release(decodeURIComponent(name));
    return { status: 200, body: { released: name } };
  }
  if (line.method === "POST" && what === "reset") {
    mock.reset();
    return { status: 200, body: {} };
  }
  return {
    status: 404,
    body: { error: { message: `The mock model has no control endpoint ${line.method} ${line.path}.` } },
  };
};
