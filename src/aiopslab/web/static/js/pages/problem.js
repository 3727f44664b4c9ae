/** The page of a problem: what is known of it, a form to start it, and the sessions that worked on it. */

import { get, path } from "../api.js";
import { facts, h, replace } from "../dom.js";
import { buildStartForm } from "../parts/start_form.js";
import { buildRecordTable } from "./records.js";

/** Show a problem. */
export async function showProblem(main, [id], signal) {
  const problem = await get(path("problems", id), {}, signal);
  const records = (await get(path("records"), {}, signal)).filter((record) => record.problem === problem.id);
  const start = await buildStartForm(problem.id, signal, problem.drawn);
  replace(
    main,
    h("h1", {}, problem.id),
    facts([
      ["Task", problem.task],
      ["Application", problem.app],
      ["Difficulty", problem.difficulty],
      ["Target", problem.drawn ? "drawn from the seed" : "always the same"],
    ]),
    h("section", { class: "card", "aria-label": "Start" }, h("h2", {}, "Work on it"), start),
    h("h2", {}, "Sessions on this problem"),
    records.length ? buildRecordTable(records) : h("p", {}, "There are no records yet."),
  );
}
