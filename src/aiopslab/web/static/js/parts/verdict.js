/** The end of a session: its verdict and results. */

import { facts, h } from "../dom.js";
import { duration, number, percent, verdict } from "../format.js";
import { formatValue } from "./calls.js";

/** Return the verdict of a session. */
export function buildVerdict({ ending, why, results, solution = undefined, expected = undefined }) {
  const success = results?.success;
  const word = verdict(success);
  const kind = success === true ? "good" : success === false ? "bad" : "warn";
  return h(
    "section",
    { class: `verdict ${kind}`, "aria-label": "Verdict" },
    h("h2", {}, word.charAt(0).toUpperCase() + word.slice(1)),
    facts([
      ["Ending", ending],
      ["Reason", why],
      [
        "Answer",
        ["string", "object"].includes(typeof solution) && solution !== null
          ? h("code", {}, formatValue(solution))
          : "",
      ],
      [
        "Right answer",
        (expected ?? results?.expected) ? h("code", {}, formatValue(expected ?? results.expected)) : "",
      ],
    ]),
    results?.findings?.length > 0 &&
      h(
        "details",
        { open: success !== true },
        h("summary", {}, `${results.findings.length} findings of the judge`),
        h(
          "ul",
          {},
          results.findings.map((finding) => h("li", {}, finding)),
        ),
      ),
    h("details", {}, h("summary", {}, "All results"), facts(listResults(results || {}))),
  );
}

/** Return the results as pairs of a name and a text; nested ones have the names joined. */
export function listResults(results, prefix = "") {
  return Object.entries(results).flatMap(([key, value]) => {
    const name = prefix + key.replaceAll("_", " ");
    if (value !== null && typeof value === "object" && !Array.isArray(value))
      return listResults(value, `${name}: `);
    return [[name, formatResult(key, value)]];
  });
}

function formatResult(key, value) {
  if (typeof value === "number" && (key.endsWith("_s") || /^TT[A-Z]$/.test(key))) return duration(value);
  if (typeof value === "number" && /share|severity/.test(key)) return percent(value, 1);
  if (typeof value === "number") return number(value, 4);
  if (Array.isArray(value))
    return value.length
      ? value.map((item) => (typeof item === "object" ? formatValue(item) : item)).join("; ")
      : "none";
  return value === null ? "–" : String(value);
}
