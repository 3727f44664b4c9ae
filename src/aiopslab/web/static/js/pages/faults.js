/** The faults, and a page for each. */

import { get, path } from "../api.js";
import { facts, field, h, replace, table } from "../dom.js";

/** Show the list of faults. */
export async function showFaults(main, _names, signal) {
  const faults = await get(path("faults"), {}, signal);
  const text = h("input", { type: "search", name: "text", placeholder: "part of the name or description" });
  const list = h("div", { "aria-live": "polite" });
  const draw = () => {
    const shown = faults.filter((fault) => `${fault.name} ${fault.summary}`.includes(text.value.trim()));
    const rows = shown.map((fault) => [
      h("a", { href: `#/faults/${encodeURIComponent(fault.name)}` }, fault.name),
      fault.layer,
      fault.course,
      fault.summary,
    ]);
    replace(list, table(`${shown.length} faults`, ["fault", "layer", "course", "what happened"], rows));
  };
  text.addEventListener("input", draw);
  draw();
  replace(main, h("h1", {}, "Faults"), h("div", { class: "row" }, field("Search", text)), list);
}

/** Show a fault. */
export async function showFault(main, [name], signal) {
  const fault = await get(path("faults", name), {}, signal);
  const problems = fault.problems.map((id) =>
    h("li", {}, h("a", { href: `#/problems/${encodeURIComponent(id)}` }, id)),
  );
  replace(
    main,
    h("h1", {}, fault.name),
    h("p", {}, fault.summary),
    facts([
      ["Layer", fault.layer],
      ["Course", fault.course],
      ["Right answers to an analysis", fault.analysis],
      ["Reference repair", fault.repair],
    ]),
    h("h2", {}, "Problems"),
    problems.length ? h("ul", {}, problems) : h("p", {}, "No listed problem has this fault."),
  );
}
