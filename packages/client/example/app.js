/** A small page over `@tributary/client`, without any framework. `npm run build -w @tributary/client` makes the module. */
import { createClient } from "../dist/client.js";
import { element, rowElement } from "./rows.js";

const $ = (id) => document.getElementById(id);
const stored = "tributary";

let client;
let list;
let thread;
/** Row id and kind → the row that is shown and its element. */
let shown = new Map();

const show = (id, visible) => {
  $(id).hidden = !visible;
};

const fail = (error) => {
  $("error").textContent = error?.detail ?? String(error);
  show("error", true);
  if (error?.userAction === "login") disconnect();
};

const attempt = async (work) => {
  show("error", false);
  try {
    return await work();
  } catch (error) {
    fail(error);
    return undefined;
  }
};

/** As fast as the screen, also where the tab is hidden. */
const nextFrame = () =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 100);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });

const showConnection = ({ connection }) => {
  const words = { connecting: "connecting…", live: "live", waiting: "lost, trying again…", closed: "not connected" };
  $("connection").dataset.state = connection.state;
  $("connection").textContent = words[connection.state];
};

const threadItem = (shell) => {
  const { threadId, title, preview, status, pendingRequests } = shell;
  const asked = pendingRequests.length > 0 ? " · asks you" : "";
  return element(
    "li",
    { "data-thread-id": threadId, "data-status": status.value, "aria-current": String(thread?.threadId === threadId) },
    element(
      "button",
      { type: "button", onclick: () => void openThread(threadId) },
      title ?? preview?.text ?? threadId,
      element("small", {}, `${status.value.replace("_", " ")}${asked} · ${shell.instance}`),
    ),
  );
};

const followList = async () => {
  const mine = client.followShells();
  list = mine;
  for await (const { shells } of mine) {
    showConnection(mine);
    $("threads").replaceChildren(...shells.map(threadItem));
    await nextFrame();
  }
};

const showRows = (view) => {
  const timeline = $("timeline");
  const next = new Map();
  const elements = view.rows.map((row) => {
    const key = `${row.kind} ${row.rowId}`;
    const before = shown.get(key);
    const made = before?.row === row ? before.element : rowElement(row, answer);
    next.set(key, { row, element: made });
    return made;
  });
  shown = next;
  // Only what differs is moved: an element that stays keeps its focus and its scroll position.
  for (const [index, made] of elements.entries())
    if (timeline.children[index] !== made) timeline.insertBefore(made, timeline.children[index] ?? null);
  while (timeline.children.length > elements.length) timeline.lastElementChild.remove();
};

const queueItem = (input) => {
  const { id, text, state, local } = input;
  const refused = local?.state === "refused";
  return element(
    "li",
    { "data-input-id": id, "data-state": local?.state ?? state },
    text,
    ...(refused
      ? [
          element("div", {}, local.error.detail),
          element(
            "div",
            { className: "buttons" },
            element("button", { type: "button", onclick: () => void attempt(() => thread.resend(id)) }, "Send again"),
            element("button", { type: "button", onclick: () => thread.dismiss(id) }, "Dismiss"),
          ),
        ]
      : []),
  );
};

const showThread = (view) => {
  const shell = view.thread;
  const scroll = $("scroll");
  const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  show("thread", true);
  $("thread").dataset.threadId = view.threadId;
  $("thread").dataset.status = shell.status.value;
  $("thread-title").textContent = shell.title ?? view.threadId;
  const words = [shell.status.value.replace("_", " "), shell.phase?.title ?? shell.phase?.kind];
  $("thread-status").textContent = [...new Set(words.filter((word) => word !== undefined))].join(" · ");
  show("stop", shell.activeTurnId !== undefined);
  show("older", view.before !== undefined);
  const steps = view.plan?.steps ?? [];
  show("plan", steps.length > 0);
  $("plan").replaceChildren(...steps.map(({ text, status }) => element("li", { "data-status": status }, text)));
  showRows(view);
  const messages = new Set(view.rows.filter(({ role }) => role === "user").map(({ rowId }) => rowId));
  $("queue").replaceChildren(...view.inputs.filter(({ id }) => !messages.has(id)).map(queueItem));
  if (atEnd) scroll.scrollTop = scroll.scrollHeight;
};

const answer = (requestId, value) => void attempt(() => thread.answer(requestId, value));

const openThread = async (threadId) => {
  thread?.close();
  shown = new Map();
  $("timeline").replaceChildren();
  const mine = client.follow(threadId);
  thread = mine;
  for (const item of $("threads").children)
    item.setAttribute("aria-current", String(item.dataset.threadId === threadId));
  await attempt(async () => {
    for await (const view of mine) {
      if (thread !== mine) return;
      showThread(view);
      await nextFrame();
    }
  });
};

const connect = async (url, token) => {
  client = createClient({ url, token });
  const instances = await attempt(() => client.instances.list());
  if (instances === undefined) return;
  sessionStorage.setItem(stored, JSON.stringify({ url, token }));
  show("connect-form", false);
  show("app", true);
  show("disconnect", true);
  $("new-instance").replaceChildren(
    ...instances.instances.map(({ id, label }) => element("option", { value: id }, label ?? id)),
  );
  const projects = await attempt(() => client.projects.list());
  if ($("new-cwd").value === "") $("new-cwd").value = projects?.projects[0]?.root ?? "";
  void attempt(followList);
};

const disconnect = () => {
  sessionStorage.removeItem(stored);
  list?.close();
  thread?.close();
  thread = undefined;
  show("connect-form", true);
  show("app", false);
  show("thread", false);
  show("disconnect", false);
  showConnection({ connection: { state: "closed" } });
};

$("connect-form").addEventListener("submit", (event) => {
  event.preventDefault();
  void connect($("server-url").value, $("token").value.trim());
});
$("disconnect").addEventListener("click", disconnect);
$("new-thread").addEventListener("submit", (event) => {
  event.preventDefault();
  void attempt(async () => {
    const payload = { cwd: $("new-cwd").value, instance: $("new-instance").value };
    const { threadId } = await client.threads.create({ payload });
    void openThread(threadId);
  });
});
$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("message").value;
  $("message").value = "";
  void attempt(() => thread.submit({ text }));
});
$("message").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  $("composer").requestSubmit();
});
$("stop").addEventListener("click", () => void attempt(() => thread.interrupt()));
$("older").addEventListener("click", () => void attempt(() => thread.older()));

/** `#server=…&token=…`: a fragment is never part of a request. It is taken out of the address at once. */
const fragment = new URLSearchParams(location.hash.slice(1));
const saved = JSON.parse(sessionStorage.getItem(stored) ?? "{}");
const url = fragment.get("server") ?? saved.url;
const token = fragment.get("token") ?? saved.token;
if (fragment.has("token")) history.replaceState(null, "", location.pathname);
if (url !== undefined) $("server-url").value = url;
if (token !== undefined && token !== null) void connect($("server-url").value, token);
