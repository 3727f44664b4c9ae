/** The list of problems. */

import { get, path } from "../api.js";
import { field, h, replace, select, table } from "../dom.js";
import { buildStartForm } from "../parts/start_form.js";

const SUITES = ["smoke", "paper", "compat", "core", "hard", "all"];
const SHOWN = 300;

/** Show the problems of a suite, filtered by task, application and text. */
export async function showProblems(main, _names, signal) {
  const suite = select({ name: "suite" }, SUITES, "smoke");
  const task = h("select", { name: "task" });
  const app = h("select", { name: "app" });
  const text = h("input", { type: "search", name: "text", placeholder: "part of the id" });
  const list = h("div", { "aria-live": "polite" });
  let problems = [];

  const draw = () => {
    const shown = problems.filter(
      (problem) =>
        (!task.value || problem.task === task.value) &&
        (!app.value || problem.app === app.value) &&
        problem.id.includes(text.value.trim()),
    );
    const rows = shown
      .slice(0, SHOWN)
      .map((problem) => [
        h("a", { href: `#/problems/${encodeURIComponent(problem.id)}` }, problem.id),
        problem.task,
        problem.app,
        problem.difficulty || "",
      ]);
    const count = shown.length > SHOWN ? `${SHOWN} of ${shown.length} problems` : `${shown.length} problems`;
    replace(list, table(count, ["problem", "task", "application", "difficulty"], rows));
  };
  const offer = (control, key) => {
    const values = [...new Set(problems.map((problem) => problem[key]))].sort();
    replace(
      control,
      h("option", { value: "" }, "all"),
      values.map((value) => h("option", { value }, value)),
    );
  };
  const load = async () => {
    problems = await get(path("problems"), { suite: suite.value }, signal);
    offer(task, "task");
    offer(app, "app");
    draw();
  };
  suite.addEventListener("change", load);
  for (const control of [task, app]) control.addEventListener("change", draw);
  text.addEventListener("input", draw);
  await load();
  const random = h(
    "details",
    { class: "card" },
    h("summary", {}, "An unknown problem"),
    h(
      "p",
      {},
      "The server draws a problem and does not name it: detect, localize or repair it as an agent has to.",
    ),
    await buildStartForm(null, signal),
  );
  const filters = h(
    "div",
    { class: "row" },
    field("Suite", suite),
    field("Task", task),
    field("Application", app),
    field("Search", text),
  );
  replace(main, h("h1", {}, "Problems"), random, filters, list);
}
