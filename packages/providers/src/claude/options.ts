/**
 * The ways to answer a permission request, with what the runtime is told for each.
 *
 * The runtime suggests updates of its permissions: rules for a settings file, folders and a mode for the session. A rule
 * is offered for this session too: its destination is ours to choose (observed 2.1.332: the same command is then not
 * asked about again, and no file is written).
 */
import type { ApprovalOption } from "@tributary/contracts";
import { asObjects, asText, asTexts, shorten, type NativeObject } from "../native.ts";
import type { Choice } from "./state.ts";

type Scope = ApprovalOption["scope"];

const scopes: Readonly<Record<string, Scope>> = {
  session: "session",
  cliArg: "session",
  localSettings: "project",
  projectSettings: "project",
  userSettings: "user",
};

const scopeOf = (update: NativeObject): Scope => scopes[asText(update["destination"]) ?? ""] ?? "session";

const isRule = ({ type }: NativeObject): boolean => type === "addRules" || type === "replaceRules";
const isFolder = ({ type }: NativeObject): boolean => type === "addDirectories";
const isMode = ({ type }: NativeObject): boolean => type === "setMode";

const ruleText = (rule: NativeObject): string => {
  const content = asText(rule["ruleContent"]);
  const tool = asText(rule["toolName"]) ?? "";
  return content === undefined ? tool : `${tool}(${content})`;
};

/** What an update allows from now on, in words. */
const grantOf = (update: NativeObject): string => {
  if (isMode(update)) return `permission mode ${asText(update["mode"]) ?? ""}`;
  if (isFolder(update)) return asTexts(update["directories"]).join(", ");
  return asObjects(update["rules"]).map(ruleText).join(", ");
};

const allow = (updates: ReadonlyArray<NativeObject>): NativeObject =>
  updates.length === 0 ? { behavior: "allow" } : { behavior: "allow", updatedPermissions: updates };

const deny = (message: string, interrupt: boolean): NativeObject => ({
  behavior: "deny",
  message,
  ...(interrupt ? { interrupt: true } : {}),
});

const granting = (
  id: string,
  label: string,
  scope: Scope,
  updates: ReadonlyArray<NativeObject>,
): ReadonlyArray<Choice> =>
  updates.length === 0
    ? []
    : [
        {
          option: { id, label, effect: "allow", scope, grants: shorten(updates.map(grantOf).join("; "), 1000) },
          response: allow(updates),
        },
      ];

const once = (label: string): Choice => ({
  option: { id: "allow", label, effect: "allow", scope: "once" },
  response: allow([]),
});

const refuse = (label: string, message: string): Choice => ({
  option: { id: "reject", label, effect: "reject", scope: "once" },
  response: deny(message, false),
});

const stop: Choice = {
  option: { id: "cancel", label: "Reject and stop", effect: "cancel", scope: "once" },
  response: deny("The person refused this and asked to stop.", true),
};

const forSession = (update: NativeObject): NativeObject => ({ ...update, destination: "session" });

const wider: ReadonlyArray<readonly [Exclude<Scope, "once" | "session">, string]> = [
  ["project", "Always allow in this project"],
  ["user", "Always allow everywhere"],
];

/** The usual permission request. `suggestions`: `permission_suggestions`; none where nothing wider may be offered. */
export const approvalChoices = (suggestions: ReadonlyArray<NativeObject>): ReadonlyArray<Choice> => {
  const rules = suggestions.filter(isRule);
  const folders = suggestions.filter(isFolder);
  const modes = suggestions.filter(isMode);
  return [
    once("Allow once"),
    ...granting("allow_session", "Allow for this session", "session", [...rules, ...folders].map(forSession)),
    ...wider.flatMap(([scope, label]) => {
      const own = rules.filter((rule) => scopeOf(rule) === scope);
      return own.length === 0 ? [] : granting(`allow_${scope}`, label, scope, [...own, ...folders]);
    }),
    ...modes.flatMap((mode, index) =>
      granting(
        index === 0 ? "allow_mode" : `allow_mode_${index + 1}`,
        mode["mode"] === "acceptEdits"
          ? "Allow all edits in this session"
          : `Switch to mode ${asText(mode["mode"]) ?? ""}`,
        scopeOf(mode),
        [mode, ...folders],
      ),
    ),
    refuse("Reject", "The person refused this."),
    stop,
  ];
};

/** Leaving plan mode: what runs then asks as before, or edits without asking. */
export const planChoices: ReadonlyArray<Choice> = [
  once("Go ahead"),
  ...granting("allow_mode", "Go ahead, and allow all edits in this session", "session", [
    { type: "setMode", mode: "acceptEdits", destination: "session" },
  ]),
  refuse("Keep planning", "The person wants the plan changed first."),
  stop,
];
