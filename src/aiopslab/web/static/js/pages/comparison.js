/** Two sessions side by side: stored ones, or two agents that work on the same incident now. */

import { h, replace, table } from "../dom.js";
import { clock, duration, number, percent, verdict } from "../format.js";
import { drawChart } from "../parts/chart.js";
import { Run } from "../parts/run.js";
import { StepList } from "../parts/steps.js";
import { listMarkers, listSeverity } from "./replay.js";

/** Show two runs, each named "record:NAME" or "session:ID". */
export async function showComparison(main, sources, signal) {
  const sides = sources.map((source, index) => new Side(new Run(source, signal), index + 1));
  const title = h("h1", {}, "Comparison");
  const warning = h("p", { class: "hint", role: "status" });
  const chart = h("div");
  const figures = h("div");
  const place = h("output", {}, "");
  const scrubber = h("input", {
    type: "range",
    min: 0,
    max: 1,
    value: 1,
    step: "any",
    "aria-label": "Simulated time",
  });
  let isAtEnd = true;

  const draw = () => {
    const [first, second] = sides.map((side) => side.run.record);
    const isSame = first.problem_id === second.problem_id && first.seed === second.seed;
    title.textContent = first.problem_id ? `Comparison: ${first.problem_id}` : "Comparison";
    warning.textContent =
      isSame || !first.steps.length || !second.steps.length
        ? ""
        : "These sessions had different incidents: problems or seeds differ.";
    const end = Math.max(1, ...sides.map((side) => side.endS));
    scrubber.max = end;
    if (isAtEnd) scrubber.value = end;
    const at = Number(scrubber.value);
    place.textContent = clock(at);
    const lines = sides.map((side) => ({
      name: side.label,
      series: side.number,
      points: listSeverity(side.run.record),
      steps: true,
    }));
    const verdicts = sides
      .filter((side) => side.run.state === "ended")
      .map((side) => ({ ...listMarkers(side.run.record).at(-1), text: `${side.label}: ${side.verdict}` }));
    const injection = isSame ? listMarkers(first).filter((marker) => marker.kind === "injection") : [];
    const markers = [...injection, ...verdicts];
    const range = [Math.min(0, ...injection.map((marker) => marker.at_s)), end];
    replace(chart, drawChart({ title: "Severity", lines, markers, format: percent, range, cursor: at }));
    replace(figures, buildFigures(sides));
    for (const side of sides) side.draw(at);
  };
  scrubber.addEventListener("input", () => {
    isAtEnd = Number(scrubber.value) >= Number(scrubber.max);
    draw();
  });
  const controls = h("div", { class: "scrubber", role: "group", "aria-label": "Replay" }, scrubber, place);
  replace(
    main,
    title,
    warning,
    controls,
    h("div", { class: "desk" }, chart, figures),
    h(
      "div",
      { class: "sides" },
      sides.map((side) => side.node),
    ),
  );
  await Promise.all(sides.map((side) => side.run.load(draw)));
}

/** One of the two sessions. */
class Side {
  constructor(run, number) {
    this.run = run;
    this.number = number;
    this.heading = h("h2", { class: `series-${number}` }, "…");
    this.state = h("p", { class: "hint", role: "status" });
    this.list = new StepList(`Steps of session ${number}`);
    this.node = h("section", { "aria-label": `Session ${number}` }, this.heading, this.state, this.list.node);
  }

  get label() {
    return this.run.record.agent || `session ${this.number}`;
  }

  get verdict() {
    return this.run.state === "ended" ? verdict(this.run.record.results?.success) : this.run.state;
  }

  get endS() {
    const last = this.run.record.steps.at(-1);
    return this.run.record.simulated?.duration_s || (last ? last.at_s + last.took_s : 0);
  }

  /** Show the steps until a time; the last of them is marked. */
  draw(at) {
    const record = this.run.record;
    this.heading.textContent = `${this.label}: ${this.verdict}`;
    this.state.textContent = this.run.error;
    this.list.firstSeverity = record.health?.severity ?? null;
    for (const step of record.steps) this.list.add(step);
    let present = 0;
    for (const [index, step] of this.list.steps.entries()) {
      const isShown = step.at_s <= at;
      this.list.node.children[index].toggleAttribute("hidden", !isShown);
      if (isShown) present = step.number;
    }
    for (const item of this.list.node.children)
      item.classList.toggle("present", item.dataset.step === String(present));
  }
}

/** Return the figures of both sessions as a table. */
function buildFigures(sides) {
  const rows = [
    ["verdict", (side) => side.verdict],
    ["ending", (side) => side.run.record.ending || ""],
    ["steps", (side) => String(side.run.record.steps.length)],
    ["simulated time", (side) => duration(side.endS)],
    ["severity at the end", (side) => percent(listSeverity(side.run.record).at(-1)?.[1] ?? null)],
    [
      "objects changed",
      (side) =>
        String(new Set(side.run.record.steps.flatMap((step) => Object.keys(step.changed || {}))).size),
    ],
    ["tokens in", (side) => number(side.run.record.results?.in_tokens ?? null)],
    ["tokens out", (side) => number(side.run.record.results?.out_tokens ?? null)],
    ["cost in USD", (side) => number(side.run.record.results?.cost_usd ?? null, 4)],
  ];
  return table(
    "Both sessions",
    ["", ...sides.map((side) => side.label)],
    rows.map(([name, read]) => [name, ...sides.map(read)]),
  );
}
