/** The router: shows the page that the part of the address after # names. */

import { ApiError } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { showBenchmark, showBenchmarks } from "./pages/benchmarks.js";
import { showComparison } from "./pages/comparison.js";
import { showFault, showFaults } from "./pages/faults.js";
import { showProblem } from "./pages/problem.js";
import { showProblems } from "./pages/problems.js";
import { showRecords } from "./pages/records.js";
import { showReplay } from "./pages/replay.js";
import { showSession } from "./pages/session.js";
import { showSessions } from "./pages/sessions.js";

/** Pages by the first word of the address and the number of further words. */
const PAGES = {
  "problems/0": showProblems,
  "problems/1": showProblem,
  "sessions/0": showSessions,
  "sessions/1": showSession,
  "records/0": showRecords,
  "records/1": showReplay,
  "compare/2": showComparison,
  "benchmarks/0": showBenchmarks,
  "benchmarks/1": showBenchmark,
  "faults/0": showFaults,
  "faults/1": showFault,
};

let leaving = new AbortController();

/** Show the page of the present address; what the page before has started is stopped. */
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const main = document.getElementById("main");
  const [word, ...rest] = (location.hash.replace(/^#\/?/, "") || "problems").split("/");
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === `#/${word}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const page = PAGES[`${word}/${rest.length}`];
  document.getElementById("problem").textContent = "";
  replace(main, h("p", { class: "loading" }, "Loading …"));
  try {
    if (!page) throw new ApiError(404, "There is no such page. Choose one above.");
    await page(main, rest.map(decodeURIComponent), signal);
    if (!signal.aborted) focusTitle(main);
  } catch (error) {
    if (signal.aborted) return;
    replace(main, h("h1", {}, "Not available"), h("p", { class: "error", role: "alert" }, error.message));
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Let keyboards and screen readers begin at the title of a new page. */
function focusTitle(main) {
  const title = main.querySelector("h1");
  if (!title) return;
  document.title = `${title.textContent} · AIOpsLab`;
  announce(title.textContent);
  if (document.activeElement === document.body) {
    title.setAttribute("tabindex", "-1");
    title.focus({ preventScroll: true });
  }
}

// Requests of buttons and events: those of a page that was left are no errors, and what the server refused is shown.
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof ApiError) document.getElementById("problem").textContent = event.reason.message;
  else if (event.reason?.name !== "AbortError") return;
  event.preventDefault();
});

window.addEventListener("hashchange", (event) => {
  // The skip link has an address of its own, which is not a page.
  if (location.hash === "#main") {
    document.getElementById("main").focus();
    history.replaceState(null, "", new URL(event.oldURL).hash || "#/");
    return;
  }
  document.activeElement?.blur();
  show();
});
show();
