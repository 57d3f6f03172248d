/** What Codex asks a person: approvals and questions. Its request ids count from 0 in every process. */
import type { ApprovalOption, ApprovalSubject, Question, RuntimePayloads } from "@tributary/contracts";
import {
  asId,
  asList,
  asObject,
  asObjects,
  asText,
  asTexts,
  asWords,
  defined,
  eventId,
  rowOf,
  shorten,
  type NativeObject,
} from "../native.ts";
import { changesOf, changesTitle } from "./changes.ts";
import { commandTitle } from "./describe.ts";
import { commandChoices, elicitationChoices, fileChoices, mcpToolChoices, permissionChoices } from "./options.ts";
import type { Choice } from "./options.ts";
import { placeOf, type Said, say } from "./place.ts";
import { type Asked, type CodexState, itemKeyOf, nativeKey, put } from "./state.ts";

type Opened = RuntimePayloads["request.opened"];

/** What one method asks; `undefined` where the frame lacks what the question is made of. */
interface Asking {
  readonly fields: Omit<Opened, "options">;
  readonly choices: ReadonlyArray<Choice>;
}
type Asker = (params: NativeObject, item: NativeObject) => Asking | undefined;

const actionTitle = (verb: string, what: string | undefined, reason: unknown): string => {
  const why = asWords(reason);
  const asked = what === undefined ? verb : `${verb}: ${what}`;
  return shorten(why === undefined ? asked : `${asked} (${why})`, 500);
};

const askCommand: Asker = (params, item) => {
  const network = asObject(params["networkApprovalContext"]);
  const host = asWords(network?.["host"]);
  const about = {
    ...item,
    ...defined({ command: asWords(params["command"]), commandActions: params["commandActions"] ?? undefined }),
  };
  const subject: ApprovalSubject = defined({
    command: asWords(about.command),
    cwd: asWords(params["cwd"]) ?? asWords(item["cwd"]),
    url: host === undefined ? undefined : `${asWords(network?.["protocol"]) ?? "https"}://${host}`,
    input: params["additionalPermissions"] ?? undefined,
  });
  const isInput = asText(params["kind"]) === "writeStdin";
  const verb = host !== undefined ? "Reach the network" : isInput ? "Type into a running command" : "Run";
  return {
    fields: {
      kind: "approval",
      action: host === undefined ? "command" : "network",
      title: actionTitle(verb, host ?? commandTitle(about), params["reason"]),
      subject,
    },
    choices: commandChoices(params),
  };
};

/** The request itself has no changes: they stand in the item that started before it (observed). */
const askFileChange: Asker = (params, item) => {
  const changes = changesOf(item["changes"]);
  const root = asWords(params["grantRoot"]);
  const paths = [...changes.map(({ path }) => path), ...(root === undefined ? [] : [root])];
  return {
    fields: {
      kind: "approval",
      action: "file_change",
      title: actionTitle("Change", changesTitle(changes) ?? "files", params["reason"]),
      subject: { ...(changes.length > 0 ? { changes } : {}), ...(paths.length > 0 ? { paths } : {}) },
    },
    choices: fileChoices(root),
  };
};

const askPermissions: Asker = (params) => {
  const permissions = asObject(params["permissions"]);
  if (permissions === undefined) return undefined;
  const files = asObject(permissions["fileSystem"]);
  const hasNetwork = asObject(permissions["network"]) !== undefined;
  return {
    fields: {
      kind: "approval",
      action: files === undefined && hasNetwork ? "network" : "tool",
      title: actionTitle("Grant more permissions", undefined, params["reason"]),
      subject: { tool: "permissions", input: permissions, ...defined({ cwd: asWords(params["cwd"]) }) },
    },
    choices: permissionChoices(permissions),
  };
};

const questionOf = (native: NativeObject): ReadonlyArray<Question> => {
  const id = asId(native["id"]);
  if (id === undefined) return [];
  const options = asObjects(native["options"]).flatMap((option) => {
    const label = asText(option["label"]);
    return label === undefined ? [] : [{ label, ...defined({ description: asWords(option["description"]) }) }];
  });
  const question: Question = {
    id,
    text: asText(native["question"]) ?? "",
    options,
    multiple: false,
    freeText: native["isOther"] === true || options.length === 0,
    ...(native["isSecret"] === true ? { secret: true } : {}),
    ...defined({ header: asWords(native["header"]) }),
  };
  return [question];
};

const askUser: Asker = (params) => {
  const questions = asObjects(params["questions"]).flatMap(questionOf);
  if (questions.length === 0) return undefined;
  return {
    fields: { kind: "user_input", questions, ...(params["isBlocking"] === false ? { blocking: false } : {}) },
    choices: [],
  };
};

/** Codex asks for the approval of an MCP tool as if the server itself asked, marked in `_meta` (observed). */
const askMcpTool = (params: NativeObject, meta: NativeObject): Asking => ({
  fields: {
    kind: "approval",
    action: "mcp_tool",
    title: shorten(asWords(params["message"]) ?? "Use an MCP tool", 500),
    subject: defined({
      tool: [params["serverName"], meta["tool_name"]].flatMap((part) => asWords(part) ?? []).join(": "),
      input: meta["tool_params"],
    }),
  },
  choices: mcpToolChoices(asTexts(meta["persist"])),
});

const askElicitation: Asker = (params) => {
  const meta = asObject(params["_meta"]) ?? {};
  if (asText(meta["codex_approval_kind"]) === "mcp_tool_call") return askMcpTool(params, meta);
  const server = asWords(params["serverName"]);
  const message = asWords(params["message"]) ?? asWords(params["title"]) ?? "A question";
  const title = shorten(server === undefined ? message : `${server}: ${message}`, 500);
  const url = asWords(params["url"]);
  const form = asObject(params["requestedSchema"]);
  if (url === undefined && form === undefined) return undefined;
  return {
    fields: { kind: "user_input", title, ...(url === undefined ? { form } : { url }) },
    choices: elicitationChoices(url !== undefined),
  };
};

const askers: Readonly<Record<string, Asker>> = {
  "item/commandExecution/requestApproval": askCommand,
  "item/fileChange/requestApproval": askFileChange,
  "item/permissions/requestApproval": askPermissions,
  "item/tool/requestUserInput": askUser,
  "mcpServer/elicitation/request": askElicitation,
};

/** Methods that a person answers. All others are refused by the adapter. */
export const askedMethods: ReadonlySet<string> = new Set(Object.keys(askers));

const optionOf = ({ option }: Choice): ApprovalOption => option;

/** A request of Codex that a person answers; `undefined` where it can't be read. */
export const onAsked = (state: CodexState, method: string, id: unknown, params: NativeObject): Said | undefined => {
  const threadId = asId(params["threadId"]);
  const nativeTurnId = asId(params["turnId"]);
  const itemId = asId(params["itemId"]);
  const ask = rowOf(askers, method);
  if (ask === undefined || threadId === undefined) return undefined;
  const key = nativeKey(id);
  const item =
    nativeTurnId === undefined || itemId === undefined
      ? undefined
      : state.items.get(itemKeyOf(threadId, nativeTurnId, itemId))?.native;
  const asking = ask(params, item ?? {});
  // Unique over threads, processes and turns: native ids begin at 0 in each process, turn ids are UUIDs.
  const requestId = asId(`${nativeTurnId ?? threadId}.g${state.generation}.${key.replaceAll('"', "")}`);
  if (asking === undefined || requestId === undefined) return undefined;
  const { fields, choices } = asking;
  const within = placeOf(state, threadId, nativeTurnId) ?? {};
  const place = { ...within, native: { ...within.native, requestId: String(id) } };
  const asked: Asked = {
    requestId,
    method,
    place,
    replies: Object.fromEntries(choices.map(({ option, reply }) => [option.id, reply])),
    secrets: (fields.questions ?? []).filter(({ secret }) => secret === true).map((question) => question.id),
  };
  const opened = say(
    "request.opened",
    { ...eventId(requestId, "opened"), ...place, requestId, ...defined({ itemId }) },
    { ...fields, ...(choices.length > 0 ? { options: choices.map(optionOf) } : {}) },
  );
  return { state: { ...state, asked: put(state.asked, key, asked) }, events: [opened] };
};

/** What tells one reply from another: the values that come with an elicitation do not. */
const meaningOf = (reply: unknown): string => {
  const fields = asObject(reply) ?? {};
  const action = asText(fields["action"]);
  return JSON.stringify(action === undefined ? fields : [action, asObject(fields["_meta"])?.["persist"] ?? null]);
};

/** Which option a reply of ours names; "" for values. */
export const optionOfReply = ({ replies }: Asked, result: unknown): string => {
  const meaning = meaningOf(result);
  return Object.entries(replies).find(([, reply]) => meaningOf(reply) === meaning)?.[0] ?? "";
};

/** A reply of ours without the answers to secret questions. */
export const maskReply = ({ secrets }: Asked, frame: NativeObject): NativeObject => {
  const result = asObject(frame["result"]);
  const answers = asObject(result?.["answers"]);
  if (secrets.length === 0 || answers === undefined) return frame;
  const masked = Object.entries(answers).map(([id, value]) => {
    if (!secrets.includes(id)) return [id, value] as const;
    return [id, { answers: asList(asObject(value)?.["answers"]).map(() => "•••") }] as const;
  });
  return { ...frame, result: { ...result, answers: Object.fromEntries(masked) } };
};
