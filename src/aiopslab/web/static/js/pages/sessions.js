/** The sessions that the server runs now. */

import { get, path, poll, remove } from "../api.js";
import { announce, h, replace, table } from "../dom.js";

const INTERVAL_MS = 3000;

/** Show the sessions, and keep the list up to date. */
export async function showSessions(main, _names, signal) {
  const list = h("div");
  const error = h("p", { class: "error", role: "alert" });
  const chosen = new Set();

  const draw = (sessions) => {
    const rows = sessions.map((session) => [
      h("input", {
        type: "checkbox",
        checked: chosen.has(session.id),
        "aria-label": `Compare ${session.id}`,
        onchange: (event) => choose(session.id, event.target.checked),
      }),
      h("a", { href: `#/sessions/${session.id}` }, session.problem || "an unknown problem"),
      session.agent || "a person",
      h("span", { class: `badge ${session.state}` }, session.state),
      session.steps?.length ?? session.steps ?? "",
      h("button", { type: "button", class: "quiet", onclick: () => end(session.id) }, "End"),
    ]);
    replace(
      list,
      rows.length
        ? table("Sessions", ["compare", "problem", "worked by", "state", "steps", ""], rows)
        : h("p", {}, "No session is running. Start one from a problem's page."),
    );
  };
  const choose = (id, isChosen) => {
    if (isChosen) chosen.add(id);
    else chosen.delete(id);
    if (chosen.size === 2)
      location.hash = `#/compare/${[...chosen].map((other) => `session:${other}`).join("/")}`;
  };
  const refresh = async () => draw(await get(path("sessions"), {}, signal));
  const end = async (id) => {
    await remove(path("sessions", id));
    announce("The session has been ended.");
    await refresh();
  };
  replace(main, h("h1", {}, "Sessions"), h("p", {}, "Choose two to compare them side by side."), list, error);
  await refresh();
  poll(refresh, INTERVAL_MS, signal, (problem) => {
    error.textContent = problem.message;
  });
}
