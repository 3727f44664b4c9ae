/** A stored session, replayed with a scrubber. */

import { get, path } from "../api.js";
import { announce, facts, h, replace } from "../dom.js";
import { clock, date, duration, percent } from "../format.js";
import { drawChart } from "../parts/chart.js";
import { formatStep } from "../parts/calls.js";
import { buildStep, readSeverity } from "../parts/steps.js";
import { buildVerdict } from "../parts/verdict.js";

const PACE_MS = 1500;

/** Return the points of a record's severity over time. */
export function listSeverity(record) {
  const first = record.health?.severity;
  const points = first === undefined ? [] : [[0, first]];
  return [...points, ...record.steps.map((step) => [step.at_s + step.took_s, readSeverity(step)])];
}

/** Return the markers of a record: the injection, its actions and its verdict. Older records have no time of the injection. */
export function listMarkers(record) {
  const injected = record.settings?.injected_s ?? null;
  const injection =
    injected === null ? [] : [{ at_s: injected, kind: "injection", text: "fault injected" }];
  const actions = record.steps.map((step) => ({
    at_s: step.at_s,
    kind: "action",
    number: step.number,
    text: formatStep(step),
  }));
  const end = record.simulated?.duration_s ?? record.steps.at(-1)?.at_s ?? 0;
  const success = record.results?.success;
  const text = success === true ? "solved" : success === false ? "not solved" : record.ending || "";
  return [...injection, ...actions, { at_s: end, kind: "verdict", text }];
}

/** Show a record. */
export async function showReplay(main, [name], signal) {
  const record = await get(path("records", name), {}, signal);
  const last = record.steps.length;
  const chart = h("div");
  const present = h("div", { "aria-live": "polite" });
  const place = h("output", {});
  const scrubber = h("input", { type: "range", min: 0, max: last, value: 0, step: 1, "aria-label": "Step" });
  const play = h("button", { type: "button" }, "Play");
  let timer = 0;

  const show = () => {
    const number = Number(scrubber.value);
    const step = record.steps[number - 1];
    const before = number > 1 ? readSeverity(record.steps[number - 2]) : (record.health?.severity ?? null);
    const at = step ? step.at_s : 0;
    place.textContent = `Step ${number} of ${last}, ${clock(at)}`;
    scrubber.setAttribute("aria-valuetext", place.textContent);
    const lines = [{ name: "severity", series: 1, points: listSeverity(record), steps: true }];
    replace(
      chart,
      drawChart({ title: "Severity", lines, markers: listMarkers(record), format: percent, cursor: at }),
    );
    replace(
      present,
      step ? h("ol", { class: "steps" }, buildStep(step, before)) : buildStart(record),
      number === last && buildVerdict(record),
    );
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const advance = () => {
    if (Number(scrubber.value) >= last) return stop();
    scrubber.value = Number(scrubber.value) + 1;
    return show();
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(scrubber.value) >= last) scrubber.value = 0;
    timer = setInterval(advance, PACE_MS);
    play.textContent = "Pause";
    announce("Playing.");
    return advance();
  });
  scrubber.addEventListener("input", show);
  signal.addEventListener("abort", stop);
  show();
  const to = (change) => {
    scrubber.value = Number(scrubber.value) + change;
    show();
  };
  const controls = h(
    "div",
    { class: "scrubber", role: "group", "aria-label": "Replay" },
    play,
    h(
      "button",
      { type: "button", class: "quiet", onclick: () => to(-1), "aria-label": "Previous step" },
      "◀",
    ),
    scrubber,
    h("button", { type: "button", class: "quiet", onclick: () => to(1), "aria-label": "Next step" }, "▶"),
    place,
  );
  replace(
    main,
    h("h1", {}, record.problem_id),
    facts([
      ["Agent", record.agent],
      ["Seed", record.seed],
      ["Ending", record.ending],
      ["Simulated", duration(record.simulated?.duration_s ?? null)],
      ["Begun", date(record.start_time)],
    ]),
    controls,
    chart,
    present,
  );
}

/** Return what the agent was given before its first step. */
function buildStart(record) {
  const prompt = record.system_prompt || {};
  return h(
    "section",
    { "aria-label": "Start" },
    h("h2", {}, "Before the first step"),
    h("pre", { class: "prose" }, prompt.description || ""),
    h(
      "details",
      {},
      h("summary", {}, "Instructions"),
      h("pre", { class: "prose" }, prompt.instructions || ""),
    ),
  );
}
