/** The steps of a session: what was done, what came back, and what it did to the system. */

import { h } from "../dom.js";
import { clock, duration, level, percent } from "../format.js";
import { formatStep } from "./calls.js";

const CALL_CHARS = 200;
const SHOWN_CHARS = 20000;

/** Return the severity after a step, or null. */
export function readSeverity(step) {
  return step.health?.severity ?? null;
}

/** Return one step as a list item. */
export function buildStep(step, before = null) {
  const severity = readSeverity(step);
  const changed = Object.entries(step.changed || {});
  const text = String(step.observation || "");
  const call = formatStep(step);
  const answer = String(step.response || "");
  return h(
    "li",
    { class: `step${step.valid === false ? " invalid" : ""}`, "data-step": step.number },
    h(
      "div",
      { class: "step-head" },
      h("span", { class: "step-number" }, step.number),
      h("code", { class: "call" }, call.length > CALL_CHARS ? `${call.slice(0, CALL_CHARS)} …` : call),
      h("span", { class: "step-time" }, `${clock(step.at_s ?? 0)}, took ${duration(step.took_s ?? 0)}`),
      severity !== null && buildSeverity(severity, before),
      step.valid === false && h("span", { class: "badge bad" }, "not valid"),
    ),
    answer.length > CALL_CHARS &&
      h("details", {}, h("summary", {}, "The whole answer"), h("pre", { class: "output" }, answer)),
    changed.length > 0 &&
      h(
        "p",
        { class: "changed" },
        "Changed: ",
        changed.map(([name, what]) => `${name} (${what})`).join(", "),
      ),
    text && buildOutput(text),
  );
}

/** Return an observation; long ones are folded. */
function buildOutput(text) {
  const shown =
    text.length > SHOWN_CHARS
      ? `${text.slice(0, SHOWN_CHARS)}\n[${text.length - SHOWN_CHARS} more characters]`
      : text;
  const lines = shown.split("\n").length;
  const output = h("pre", { class: "output", tabindex: "0" }, shown);
  if (lines <= 12) return output;
  return h("details", { class: "long" }, h("summary", {}, `Output: ${lines} lines`), output);
}

/** Return a badge with the severity, and whether it rose or fell. */
function buildSeverity(severity, before = null) {
  const change = before === null ? 0 : severity - before;
  const arrow = Math.abs(change) < 0.005 ? "" : change > 0 ? " ▲" : " ▼";
  return h("span", { class: `badge ${level(severity)}` }, `severity ${percent(severity)}${arrow}`);
}

/** A list of steps that grows while a session is watched. */
export class StepList {
  constructor(label, firstSeverity = null) {
    this.node = h("ol", { class: "steps", "aria-label": label });
    this.firstSeverity = firstSeverity;
    this.steps = [];
  }

  /** Add a step unless it is there; returns whether it was new. */
  add(step) {
    if (this.steps.some((known) => known.number === step.number)) return false;
    const before = this.steps.length ? readSeverity(this.steps.at(-1)) : this.firstSeverity;
    this.steps.push(step);
    this.node.append(buildStep(step, before));
    return true;
  }
}
