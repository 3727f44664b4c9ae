/** Forms for actions, made from their JSON schemas. */

import { field, h, replace, select } from "../dom.js";
import { buildAnswer } from "./answer_fields.js";
import { formatCall } from "./calls.js";
import { buildControl } from "./controls.js";

const SHELL = "exec_shell";
const SUBMIT = "submit";

/**
 * Return a form that performs any action but the terminal's and the submission.
 * @param {Array<{name: string, description: string, parameters: object}>} tools
 * @param {function(string): Promise<void>} perform gets the text of the call
 * @param {Object<string, string>} known
 */
export function buildActionForm(tools, perform, known) {
  const offered = tools.filter((tool) => tool.name !== SHELL && tool.name !== SUBMIT);
  if (offered.length === 0) return h("p", {}, "This problem offers the terminal only.");
  const fields = h("div", { class: "fields" });
  const chosen = select(
    { name: "action" },
    offered.map((tool) => tool.name),
  );
  let reads = [];
  const show = () => {
    const tool = offered.find((candidate) => candidate.name === chosen.value);
    reads = [];
    const rows = Object.entries(tool.parameters?.properties || {}).map(([name, schema]) => {
      const { control, read } = buildControl(name, schema, known);
      reads.push([name, read]);
      return field(name, control, schema.description || "");
    });
    replace(fields, h("p", { class: "hint" }, summarize(tool.description)), rows);
  };
  chosen.addEventListener("change", show);
  show();
  const read = () => formatCall(chosen.value, readAll(reads));
  return buildForm("action-form", [field("Action", chosen), fields], "Perform", read, perform);
}

/** Return the form for the answer of a task, made from the schema of `submit`. */
export function buildSubmitForm(tools, perform) {
  const tool = tools.find((candidate) => candidate.name === SUBMIT);
  if (!tool) return h("p", {}, "This session takes no submission.");
  const reads = [];
  const rows = Object.entries(tool.parameters?.properties || {}).map(([name, schema]) => {
    const { node, read } = buildAnswer(name, schema);
    reads.push([name, read]);
    return node;
  });
  const hint = rows.length
    ? ""
    : h("p", { class: "hint" }, "Submit when the repair is finished: the whole system is judged.");
  return buildForm(
    "submit-form",
    [hint, rows],
    "Submit and end",
    () => formatCall(SUBMIT, readAll(reads)),
    perform,
  );
}

/** Return a form whose button performs the call that `read` returns; mistakes are shown below it. */
function buildForm(name, content, label, read, perform) {
  const error = h("p", { class: "error", role: "alert" });
  const button = h("button", { type: "submit" }, label);
  const onSubmit = async (event) => {
    event.preventDefault();
    error.textContent = "";
    button.disabled = true;
    try {
      await perform(read());
    } catch (problem) {
      error.textContent =
        problem instanceof SyntaxError ? `This is not valid JSON: ${problem.message}` : problem.message;
    } finally {
      button.disabled = false;
    }
  };
  return h("form", { class: name, onsubmit: onSubmit }, content, h("p", {}, button), error);
}

function readAll(reads) {
  return Object.fromEntries(
    reads.map(([name, read]) => [name, read()]).filter(([, value]) => value !== undefined),
  );
}

/** Return the first paragraph of a description. */
function summarize(text) {
  return String(text || "").split(/\n\s*\n/)[0];
}
