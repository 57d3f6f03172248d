/**
 * The ways to answer an approval, each with the native reply that it stands for. Option ids are Codex's own words, so
 * that they mean the same in every version that has them.
 */
import type { ApprovalOption } from "@tributary/contracts";
import { asList, asObject, asText, asTexts, asWords, rowOf, shorten, type NativeObject } from "../native.ts";

export interface Choice {
  readonly option: ApprovalOption;
  readonly reply: NativeObject;
}

const accept: ApprovalOption = { id: "accept", label: "Allow once", effect: "allow", scope: "once" };
const decline: ApprovalOption = { id: "decline", label: "Decline", effect: "reject", scope: "once" };
const cancel: ApprovalOption = { id: "cancel", label: "Decline and stop the turn", effect: "cancel", scope: "once" };

const forSession = (grants: string): ApprovalOption => ({
  id: "acceptForSession",
  label: "Allow for this session",
  effect: "allow",
  scope: "session",
  grants,
});

const decision = (option: ApprovalOption, native: unknown = option.id): Choice => ({
  option,
  reply: { decision: native },
});

/** A rule in the user's own rules file: every session of this Codex home follows it from then on. */
const amendment = (native: NativeObject): Choice | undefined => {
  const rule = asObject(native["acceptWithExecpolicyAmendment"]);
  if (rule !== undefined) {
    const prefix = asTexts(rule["execpolicy_amendment"]).join(" ");
    const option: ApprovalOption = {
      id: "acceptWithExecpolicyAmendment",
      label: "Always allow commands that begin like this",
      effect: "allow",
      scope: "user",
      grants: shorten(`commands that begin with: ${prefix}`, 1000),
    };
    return decision(option, native);
  }
  const network = asObject(asObject(native["applyNetworkPolicyAmendment"])?.["network_policy_amendment"]);
  const host = asWords(network?.["host"]);
  if (host === undefined) return undefined;
  const allows = asText(network?.["action"]) !== "deny";
  const option: ApprovalOption = {
    id: shorten(`applyNetworkPolicyAmendment.${allows ? "allow" : "deny"}.${host}`, 500),
    label: allows ? `Always allow ${host}` : `Always refuse ${host}`,
    effect: allows ? "allow" : "reject",
    scope: "user",
    grants: shorten(`network access to ${host}`, 1000),
  };
  return decision(option, native);
};

const known = (grants: string): Readonly<Record<string, ApprovalOption>> => ({
  accept,
  acceptForSession: forSession(grants),
  decline,
  cancel,
});

/** Allowing first, the narrowest first; stopping last. */
const rank = ({ option: { effect, scope } }: Choice): number =>
  10 * { allow: 0, reject: 1, cancel: 2 }[effect] + { once: 0, session: 1, project: 2, user: 3 }[scope];

const sessionGrants: Readonly<Record<string, string>> = {
  command: "exactly this command, until the session ends",
  network: "this host, until the session ends",
};

/**
 * `availableDecisions` in its order. Decline is never listed, and acceptForSession not for commands, yet both work
 * (observed); a command that must be decided by a person (`humanCommand`) takes one-time decisions only (vendor schema).
 */
export const commandChoices = (params: NativeObject): ReadonlyArray<Choice> => {
  const grants = sessionGrants[asObject(params["networkApprovalContext"]) === undefined ? "command" : "network"] ?? "";
  const options = known(grants);
  const listed = Array.isArray(params["availableDecisions"])
    ? asList(params["availableDecisions"])
    : ["accept", "cancel"];
  const choices = listed.flatMap((native): ReadonlyArray<Choice> => {
    const name = asText(native);
    if (name === undefined) return [amendment(asObject(native) ?? {}) ?? []].flat();
    const option = rowOf(options, name);
    return option === undefined ? [] : [decision(option)];
  });
  const kind = asText(params["kind"]) ?? "command";
  const isListed = ({ id }: ApprovalOption): boolean => choices.some(({ option }) => option.id === id);
  const added = [...(kind === "command" ? [forSession(grants)] : []), decline].filter((option) => !isListed(option));
  return [...choices, ...added.map((option) => decision(option))].toSorted((one, other) => rank(one) - rank(other));
};

/** None are listed by Codex; these are the ones of its schema. */
export const fileChoices = (root: string | undefined): ReadonlyArray<Choice> =>
  [
    accept,
    forSession(
      root === undefined
        ? "changes to these files, until the session ends"
        : `changes below ${root}, until the session ends`,
    ),
    decline,
    cancel,
  ].map((option) => decision(option));

export const permissionChoices = (permissions: NativeObject): ReadonlyArray<Choice> => {
  const granted = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
  return [
    { option: { ...accept, label: "Allow for this turn" }, reply: { permissions: granted, scope: "turn" } },
    {
      option: forSession("these permissions, until the session ends"),
      reply: { permissions: granted, scope: "session" },
    },
    { option: decline, reply: { permissions: {}, scope: "turn" } },
  ];
};

const elicited = (action: "accept" | "decline" | "cancel", persist?: string): NativeObject => ({
  action,
  content: action === "accept" ? {} : null,
  _meta: persist === undefined ? null : { persist },
});

/** `persist` lists how long Codex can remember it: `session`, `always`. */
export const mcpToolChoices = (persist: ReadonlyArray<string>): ReadonlyArray<Choice> => [
  { option: accept, reply: elicited("accept") },
  ...(persist.includes("session")
    ? [{ option: forSession("this tool, until the session ends"), reply: elicited("accept", "session") }]
    : []),
  ...(persist.includes("always")
    ? [
        {
          option: {
            id: "acceptAlways",
            label: "Always allow this tool",
            effect: "allow" as const,
            scope: "user" as const,
            grants: "this tool, in every session of this Codex home",
          },
          reply: elicited("accept", "always"),
        },
      ]
    : []),
  { option: decline, reply: elicited("decline") },
  { option: cancel, reply: elicited("cancel") },
];

/** A server's own question. A form is accepted by its values; a page is accepted when the person is done there. */
export const elicitationChoices = (isPage: boolean): ReadonlyArray<Choice> => [
  ...(isPage
    ? [{ option: { ...accept, label: "Done" }, reply: { action: "accept", content: null, _meta: null } }]
    : []),
  { option: decline, reply: elicited("decline") },
  { option: { ...cancel, label: "Cancel" }, reply: elicited("cancel") },
];
