/**
 * What bodies routes take: JSON up to a limit, and whatever the table says for a few. Asked before anything of a body is
 * read. Pure.
 */
import { limits, maxBodyBytes } from "./limits.ts";

export interface BodyRule {
  /** Accepted media types, in lower case, without parameters; `"any"` takes what is sent, as long as it has a type. */
  readonly types: ReadonlyArray<string> | "any";
  /** In bytes. */
  readonly maxBytes: number;
}

export interface BodyException extends BodyRule {
  readonly method: string;
  /** Without query. */
  readonly path: string | RegExp;
}

const json: BodyRule = { types: ["application/json"], maxBytes: maxBodyBytes };

/** The routes whose bodies are not JSON. */
const exceptions: ReadonlyArray<BodyException> = [
  { method: "POST", path: "/attachments", types: limits.attachmentTypes, maxBytes: limits.maxAttachmentBytes },
];

const isAt = (rule: BodyException, method: string, path: string): boolean =>
  rule.method === method && (typeof rule.path === "string" ? rule.path === path : rule.path.test(path));

/** What a route takes; `url` may have a query. */
export const bodyRule = (method: string, url: string): BodyRule => {
  const path = url.split("?")[0] ?? url;
  return exceptions.find((rule) => isAt(rule, method, path)) ?? json;
};

export const accepts = ({ types }: BodyRule, type: string | undefined): boolean =>
  type !== undefined && (types === "any" ? type.includes("/") : types.includes(type));
