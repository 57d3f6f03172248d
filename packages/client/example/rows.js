/** Rows of a thread as elements. An element is kept while its row is the same object. */

/** @param {string} name @param {Record<string, unknown>} [properties] @param {...(Node | string)} children */
export const element = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (key in made) made[key] = value;
    else made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
};

const output = ({ head, omitted, tail }) => head + (omitted > 0 ? `\n… ${omitted} characters left out …\n` : "") + tail;

const activity = (row) => [
  element("span", { className: "state" }, row.status.replace("_", " ")),
  element("strong", {}, row.title ?? row.type),
  ...(row.detail === undefined ? [] : [` ${row.detail}`]),
  ...(row.commandOutput === undefined ? [] : [element("pre", {}, output(row.commandOutput))]),
  ...(row.changes ?? []).map(({ kind, path, diff }) => element("pre", {}, `${kind} ${path}\n${diff ?? ""}`)),
];

/** The buttons of an approval: one for each of the runtime's own options. */
const options = (request, answer) =>
  element(
    "div",
    { className: "buttons" },
    ...(request.options ?? []).map(({ id, label, effect, grants }) =>
      element(
        "button",
        {
          type: "button",
          title: grants,
          "data-option-id": id,
          "data-effect": effect,
          onclick: () => answer({ optionId: id }),
        },
        label,
      ),
    ),
  );

const question =
  (title) =>
  ({ id, text, options: choices, multiple, freeText, secret }) =>
    element(
      "fieldset",
      { "data-question-id": id },
      ...(text === title ? [] : [element("legend", {}, text)]),
      ...choices.map(({ label, description }) =>
        element(
          "label",
          {},
          element("input", { type: multiple ? "checkbox" : "radio", name: id, value: label }),
          label,
          ...(description === undefined ? [] : [element("small", {}, description)]),
        ),
      ),
      ...(freeText || choices.length === 0
        ? [
            element("input", {
              type: secret ? "password" : "text",
              name: `${id} text`,
              placeholder: "Or in your words",
            }),
          ]
        : []),
    );

const valueOf = (form, { id, multiple }) => {
  const data = new FormData(form);
  const text = String(data.get(`${id} text`) ?? "").trim();
  if (text !== "") return multiple ? [...data.getAll(id), text] : text;
  return multiple ? data.getAll(id) : (data.get(id) ?? "");
};

const questions = (request, answer) =>
  element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const values = (request.questions ?? []).map((one) => [one.id, valueOf(event.target, one)]);
        answer({ answers: Object.fromEntries(values) });
      },
    },
    ...(request.questions ?? []).map(question(request.title)),
    element("div", { className: "buttons" }, element("button", { type: "submit", "data-action": "answer" }, "Answer")),
  );

const answered = ({ state, answer, request, by, reason }) => {
  const chosen = request.options?.find(({ id }) => id === answer?.optionId)?.label;
  const said = chosen ?? (answer?.answers === undefined ? "" : Object.values(answer.answers).flat().join(", "));
  const who = by === undefined ? "" : ` (${by.kind} ${by.id})`;
  return `${state}${said === "" ? "" : `: ${said}`}${who}${reason === undefined ? "" : `: ${reason}`}`;
};

const request = (row, answer) => {
  const { request: asked, requestId, state } = row;
  const subject = asked.subject?.command ?? asked.subject?.url ?? asked.subject?.paths?.join("\n");
  const content = [element("strong", {}, asked.title ?? "The agent asks")];
  if (subject !== undefined) content.push(element("pre", {}, subject));
  if (state !== "pending") content.push(element("p", {}, answered(row)));
  else if (asked.kind === "approval") content.push(options(asked, (value) => answer(requestId, value)));
  else content.push(questions(asked, (value) => answer(requestId, value)));
  return content;
};

const content = (row, answer) => {
  switch (row.kind) {
    case "message":
    case "reasoning":
      return [row.text];
    case "activity":
      return activity(row);
    case "request":
      return request(row, answer);
    case "task":
      return [element("strong", {}, row.title ?? row.taskKind), ` ${row.status} ${row.summary ?? ""}`];
    case "plan":
      return [element("strong", {}, `Plan (${row.state})`), `\n${row.markdown}`];
    case "notice":
      return [row.message];
    default:
      // A kind of a newer server.
      return [];
  }
};

/** @param {object} row @param {(requestId: string, answer: object) => void} answer */
export const rowElement = (row, answer) =>
  element(
    "div",
    {
      className: "row",
      "data-row-id": row.rowId,
      "data-kind": row.kind,
      "data-role": row.role,
      "data-state": row.state,
      "data-status": row.status,
      "data-streaming": row.streaming,
      "data-request-id": row.requestId,
      "data-nested": row.agentPath.length > 0 ? "true" : undefined,
    },
    ...content(row, answer),
  );
