/** Fields for the answers of the tasks; an argument of another name gets a field made from its schema. */

import { field, h, select } from "../dom.js";
import { buildControl } from "./controls.js";

const LEVELS = ["Application", "Virtualization", "Operating System", "Hardware"];
const TYPES = [
  "Misconfiguration",
  "Code Defect",
  "Authentication Issue",
  "Network/Storage Issue",
  "Operation Error",
  "Dependency Problem",
];
const FAILURES = [
  "disk full",
  "volume full",
  "out of memory",
  "connections exhausted",
  "certificate expired",
  "quota exhausted",
];

/** Return the node of an argument of `submit`, and a function that reads its value. */
export function buildAnswer(name, schema) {
  if (ANSWERS[name]) return ANSWERS[name](schema);
  const { control, read } = buildControl(name, schema);
  return { node: field(name, control, schema.description || ""), read };
}

/** Detection: yes or no. */
function buildYesNo() {
  const options = ["Yes", "No"].map((value) => {
    const control = h("input", { type: "radio", name: "has_anomaly", value, required: true });
    return h("label", { class: "choice" }, control, ` ${value}`);
  });
  const node = h("fieldset", {}, h("legend", {}, "Is something wrong?"), options);
  return { node, read: () => node.querySelector("input:checked")?.value };
}

/** Root cause analysis: two labels. */
function buildLabels() {
  const level = select({ name: "system_level" }, LEVELS);
  const type = select({ name: "fault_type" }, TYPES);
  const node = h("div", {}, field("System level", level), field("Fault type", type));
  return { node, read: () => ({ system_level: level.value, fault_type: type.value }) };
}

/** Prediction: what is going to fail, how and when, or that nothing is. */
function buildPrediction() {
  const nothing = h("input", { type: "checkbox", name: "nothing" });
  const component = h("input", { type: "text", name: "component", autocomplete: "off" });
  const failure = select({ name: "failure" }, FAILURES);
  const minutes = h("input", { type: "number", name: "within_min", min: 1, value: 60 });
  const rows = [field("Component", component), field("Failure", failure), field("Within minutes", minutes)];
  nothing.addEventListener("change", () =>
    rows.forEach((row) => row.toggleAttribute("hidden", nothing.checked)),
  );
  const node = h("div", {}, h("label", { class: "choice" }, nothing, " Nothing is going to fail"), rows);
  const read = () =>
    nothing.checked
      ? null
      : { component: component.value, failure: failure.value, within_min: Number(minutes.value) };
  return { node, read };
}

/** Localization and incidents: names of components, one on each line. */
function buildNames(schema) {
  const { control, read } = buildControl("components", { ...schema, type: "array" });
  return { node: field("Faulty components", control, "One on each line, the most likely first."), read };
}

/** Incidents: the diagnosis in a few sentences. */
function buildDiagnosis() {
  const control = h("textarea", { name: "diagnosis", rows: 5, required: true });
  const hint = "Where the cause was, what kind of fault it was, and the evidence.";
  return { node: field("Diagnosis", control, hint), read: () => control.value };
}

const ANSWERS = {
  has_anomaly: buildYesNo,
  analysis: buildLabels,
  prediction: buildPrediction,
  faulty_components: buildNames,
  components: buildNames,
  diagnosis: buildDiagnosis,
};
