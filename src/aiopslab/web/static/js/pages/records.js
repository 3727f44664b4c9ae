/** The records of finished sessions. */

import { get, path } from "../api.js";
import { field, h, replace, table } from "../dom.js";
import { date, verdict } from "../format.js";

const SHOWN = 500;

/** Show the stored sessions; two of them can be compared. */
export async function showRecords(main, _names, signal) {
  const records = await get(path("records"), {}, signal);
  const text = h("input", { type: "search", name: "text", placeholder: "problem or agent" });
  const list = h("div", { "aria-live": "polite" });
  const draw = () => {
    const wanted = text.value.trim();
    const shown = records.filter((record) => `${record.problem} ${record.agent}`.includes(wanted));
    replace(
      list,
      shown.length ? buildRecordTable(shown.slice(0, SHOWN)) : h("p", {}, "There are no records here yet."),
    );
  };
  text.addEventListener("input", draw);
  draw();
  replace(
    main,
    h("h1", {}, "Records"),
    h("p", {}, "Open one to replay it, or choose two of the same problem to compare them."),
    h("div", { class: "row" }, field("Search", text)),
    list,
  );
}

/** Return a table of records with boxes to choose two for a comparison. */
export function buildRecordTable(records) {
  const chosen = [];
  const button = h("button", { type: "button", disabled: true }, "Compare the two");
  button.addEventListener("click", () => {
    location.hash = `#/compare/${chosen.map((name) => encodeURIComponent(`record:${name}`)).join("/")}`;
  });
  const choose = (name, isChosen) => {
    if (isChosen) chosen.push(name);
    else chosen.splice(chosen.indexOf(name), 1);
    button.disabled = chosen.length !== 2;
  };
  const rows = records.map((record) => [
    h("input", {
      type: "checkbox",
      "aria-label": `Compare ${record.name}`,
      onchange: (event) => choose(record.name, event.target.checked),
    }),
    h("a", { href: `#/records/${encodeURIComponent(record.name)}` }, record.problem),
    record.agent,
    String(record.seed ?? ""),
    h(
      "span",
      { class: `badge ${record.success === true ? "good" : record.success === false ? "bad" : "warn"}` },
      verdict(record.success),
    ),
    record.ending,
    String(record.steps ?? ""),
    date(record.start_time),
  ]);
  const header = ["compare", "problem", "agent", "seed", "verdict", "ending", "steps", "begun"];
  return h("div", {}, table(`${records.length} sessions`, header, rows), h("p", {}, button));
}
