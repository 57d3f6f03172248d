/**
 * Messages that are kept as records and make no event, each with the reason. What is neither here nor handled is unknown,
 * and shows up in diagnostics.
 */

const derived = "whether the session works or waits is derived from turns and requests";
const unused = "answers to a feature of Codex that Tributary does not use";
const account = "about the account, which is read when an instance is looked at";
const vendorUi = "state of the vendor's own apps";
const realtime = "voice conversations are not used";

/** Notifications of Codex, by method. */
export const ignoredNotifications: Readonly<Record<string, string>> = {
  "thread/status/changed": derived,
  "thread/closed": derived,
  "thread/compacted": "the deprecated twin of the contextCompaction item",
  "thread/readState/changed": vendorUi,
  "thread/archived": vendorUi,
  "thread/unarchived": vendorUi,
  "thread/deleted": vendorUi,
  "thread/section/changed": vendorUi,
  "thread/attachment/updated": vendorUi,
  "thread/project/updated": vendorUi,
  "thread/prediction/updated": vendorUi,
  "project/changed": vendorUi,
  "app/list/updated": vendorUi,
  "thread/goal/updated": "goals are Codex's own; what it does for them comes as turns",
  "thread/goal/cleared": "goals are Codex's own; what it does for them comes as turns",
  "thread/queue/changed": "Codex's own queue is not used",
  "thread/reverted": "the reply to our own request says it",
  "thread/environment/connected": "remote environments are not used",
  "thread/environment/disconnected": "remote environments are not used",
  "skills/changed": "the next turn uses them; nobody is asked",
  "fs/changed": unused,
  "fuzzyFileSearch/sessionUpdated": unused,
  "fuzzyFileSearch/sessionCompleted": unused,
  "thread/search/partial": unused,
  "command/exec/outputDelta": unused,
  "process/outputDelta": unused,
  "process/exited": unused,
  "mcpServer/event/stream/notification": unused,
  "mcpServer/oauthLogin/completed": unused,
  "externalAgentConfig/import/progress": unused,
  "externalAgentConfig/import/completed": unused,
  "windowsSandbox/setupCompleted": unused,
  "windows/worldWritableWarning": "names folders only; what the sandbox then refuses fails in its own command",
  "account/updated": account,
  "account/login/completed": account,
  "account/gatewayOAuth/changed": account,
  "remoteControl/status/changed": "Codex's own remote control is not used",
  "model/verification": "how the vendor checked its own model",
  "model/safetyBuffering/updated": "a delay of the vendor's safety checks; the text follows",
  "modelProvider/authRecoveryStarted": "Codex renews its login by itself; a failure ends the turn and says so",
  "modelProvider/authRecoveryCompleted": "Codex renews its login by itself; a failure ends the turn and says so",
  "turn/moderationMetadata": "the vendor's moderation notes, not meant for people",
  "rawResponseItem/completed": "the model's raw output; its items are told one by one",
  "rawResponse/completed": "the model's raw output; its items are told one by one",
  "autoApprovalReview/strictReviewRequired": "the reviews that follow are told one by one",
  "item/reasoning/summaryPartAdded": "the part's first delta says the same",
  "item/fileChange/outputDelta": "what the patch tool prints; the changes are in the item",
  "item/commandExecution/terminalInteraction": "what was typed shows in the command's output",
  "thread/realtime/started": realtime,
  "thread/realtime/itemAdded": realtime,
  "thread/realtime/item/started": realtime,
  "thread/realtime/item/transcript/delta": realtime,
  "thread/realtime/item/completed": realtime,
  "thread/realtime/transcript/delta": realtime,
  "thread/realtime/transcript/done": realtime,
  "thread/realtime/outputAudio/delta": realtime,
  "thread/realtime/sdp": realtime,
  "thread/realtime/error": realtime,
  "thread/realtime/closed": realtime,
};

const notOffered = "asks for something that Tributary did not offer; refused at once";

/** Requests of Codex that no person can answer, by method. The adapter refuses them. */
export const ignoredRequests: Readonly<Record<string, string>> = {
  "item/tool/call": notOffered,
  "account/chatgptAuthTokens/refresh": notOffered,
  "attestation/generate": notOffered,
  applyPatchApproval: "of the protocol's first version, which is not spoken",
  execCommandApproval: "of the protocol's first version, which is not spoken",
};
