import type { ModelError } from "./scenario.ts";

const known: Readonly<Record<string, ModelError>> = {
  "400": { kind: "bad_request", status: 400, message: "The mock model refuses this request." },
  "400ctx": { kind: "context", status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
  "401": { kind: "auth", status: 401, message: "The mock model does not know this key." },
  "402": { kind: "billing", status: 402, message: "The mock model account has no credit left." },
  "403": { kind: "forbidden", status: 403, message: "The mock model does not allow this." },
  "404": { kind: "not_found", status: 404, message: "The mock model has no such model." },
  "429": { kind: "rate_limit", status: 429, message: "The mock model is asked too often.", retryAfterSeconds: 1 },
  "429quota": { kind: "quota", status: 429, message: "The mock model quota is used up." },
  "500": { kind: "server", status: 500, message: "The mock model broke." },
  "503": { kind: "overloaded", status: 503, message: "The mock model is overloaded." },
  "529": { kind: "overloaded", status: 529, message: "The mock model is overloaded." },
};

/** The error of a code such as `429` or `400ctx`; any other three digits are a server error of that status. */
export const errorOf = (code: string): ModelError => {
  const status = Number.parseInt(code, 10);
  const valid = status >= 400 && status <= 599;
  return known[code] ?? { kind: "server", status: valid ? status : 500, message: `The mock model fails: ${code}.` };
};
