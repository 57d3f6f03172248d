/** What goes wrong, in one class: the server's problem bodies, and what the way to it adds. */

export type UserAction = "login" | "wait" | "retry" | "shorten" | "change_model" | "new_thread" | "none";

export interface TributaryErrorFields {
  /**
   * The problem's own code (`not_found`, `busy`, …: `/openapi.json` lists them); `unreachable`: no answer came; `silent`: a
   * server said nothing for too long; `http_<status>`: something between us and the server answered.
   */
  readonly code: string;
  /** What happened and the next step, for a person. */
  readonly detail: string;
  readonly userAction: UserAction;
  /** The HTTP status; absent where no answer came. */
  readonly status?: number;
  /** When it makes sense to try again. */
  readonly retryAt?: string;
  /** Whether sending the same again, under a new key, can act twice. */
  readonly resend?: "safe" | "unsafe";
  /** Facts for programs: who answered already, which roots there are, which fields are wrong. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export class TributaryError extends Error {
  override readonly name = "TributaryError";
  readonly code: string;
  readonly detail: string;
  readonly userAction: UserAction;
  readonly status: number | undefined;
  readonly retryAt: string | undefined;
  readonly resend: "safe" | "unsafe" | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(fields: TributaryErrorFields, options?: ErrorOptions) {
    super(`${fields.code}: ${fields.detail}`, options);
    this.code = fields.code;
    this.detail = fields.detail;
    this.userAction = fields.userAction;
    this.status = fields.status;
    this.retryAt = fields.retryAt;
    this.resend = fields.resend;
    this.details = fields.details;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A problem body as an error. What is no problem body is what a proxy or another program says. */
export const problem = (status: number, body: unknown): TributaryError => {
  if (!isRecord(body) || typeof body["code"] !== "string")
    return new TributaryError({
      code: `http_${status}`,
      detail: `An answer with status ${status} that is not Tributary's; is something between you and the server?`,
      userAction: status >= 500 ? "retry" : "none",
      status,
    });
  const { code, detail, userAction, retryAt, resend, details, errors } = body;
  return new TributaryError({
    code,
    detail: typeof detail === "string" ? detail : code,
    userAction: typeof userAction === "string" ? (userAction as UserAction) : "none",
    status,
    ...(typeof retryAt === "string" ? { retryAt } : {}),
    ...(resend === "safe" || resend === "unsafe" ? { resend } : {}),
    ...(isRecord(details) ? { details } : {}),
    ...(errors === undefined ? {} : { details: { ...(isRecord(details) ? details : {}), errors } }),
  });
};

export const silent = (where: string, ms: number): TributaryError =>
  new TributaryError({ code: "silent", detail: `${where} said nothing for ${ms} ms.`, userAction: "retry" });

export const unreachable = (url: string, cause: unknown): TributaryError =>
  new TributaryError(
    { code: "unreachable", detail: `${url} does not answer; is the server running?`, userAction: "retry" },
    { cause },
  );

/** No answer, or one that says that nothing was done and that the same may be sent again. */
export const isTransient = (error: unknown): error is TributaryError =>
  error instanceof TributaryError &&
  (error.status === undefined
    ? error.code === "unreachable" || error.code === "silent"
    : [429, 502, 503, 504].includes(error.status));
