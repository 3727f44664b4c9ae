/** Benchmarks: their tables and plots, also while they run. */

import { get, path, poll } from "../api.js";
import { field, h, replace, table } from "../dom.js";
import { number, percent, verdict } from "../format.js";
import { drawIntervals } from "../parts/intervals.js";

const INTERVAL_MS = 5000;

/** Show the benchmarks in the folder of the results. */
export async function showBenchmarks(main, _names, signal) {
  const found = await get(path("benchmarks"), {}, signal);
  const rows = found.map((benchmark) => [
    h("a", { href: `#/benchmarks/${encodeURIComponent(benchmark.name)}` }, benchmark.name),
    benchmark.episodes,
    (benchmark.plan?.agents || []).map((agent) => agent.name || agent).join(", "),
  ]);
  replace(
    main,
    h("h1", {}, "Benchmarks"),
    rows.length
      ? table(`${rows.length} benchmarks`, ["benchmark", "episodes", "agents"], rows)
      : h(
          "p",
          {},
          "There is none yet. Run one: ",
          h("code", {}, "aiopslab bench --suite smoke --agent runbook,noop --out results/bench"),
        ),
  );
}

/** Show the report of a benchmark, and update it while episodes are added. */
export async function showBenchmark(main, [name], signal) {
  const content = h("div");
  const status = h("p", { class: "hint", role: "status" });
  const list = new EpisodeList(name, signal);
  let episodes = -1;
  const refresh = async () => {
    const report = await get(`${path("benchmarks", name)}/report`, {}, signal);
    if (report.episodes === episodes) return;
    episodes = report.episodes;
    status.textContent = `${episodes} episodes so far. The page follows a benchmark that runs.`;
    replace(content, buildReport(report));
    await list.load();
  };
  replace(main, h("h1", {}, name), status, content, list.node);
  await refresh();
  poll(refresh, INTERVAL_MS, signal, (problem) => {
    status.textContent = problem.message;
  });
}

/** The episodes of a benchmark that contain a text, each with a link to the replay of its session. */
class EpisodeList {
  constructor(name, signal) {
    this.address = `${path("benchmarks", name)}/episodes`;
    this.signal = signal;
    this.text = h("input", { type: "search", name: "text", placeholder: "problem or agent" });
    this.shown = h("div", { "aria-live": "polite" });
    this.more = h("button", { type: "button", hidden: true }, "Show more");
    this.episodes = [];
    this.text.addEventListener("input", () => this.load());
    this.more.addEventListener("click", () => this.load(this.episodes));
    this.node = h(
      "section",
      { id: "table-episodes", "aria-label": "Episodes" },
      h("h2", {}, "Episodes"),
      field("Find", this.text),
      this.shown,
      this.more,
    );
  }

  /** Load the episodes from the first one, or those that follow others. */
  async load(before = []) {
    const text = this.text.value.trim();
    const found = await get(this.address, { text, offset: before.length }, this.signal);
    if (text !== this.text.value.trim()) return;
    this.episodes = [...before, ...found.episodes];
    const header = ["agent", "problem", "seed", "attempt", "ending", "steps", "verdict"];
    const caption = `${this.episodes.length} of ${found.total} episodes`;
    replace(this.shown, table(caption, header, this.episodes.map(buildEpisode)));
    this.more.hidden = this.episodes.length >= found.total;
  }
}

/** Return the cells of an episode; its verdict leads to the replay. */
function buildEpisode(episode) {
  const word = verdict(episode.success);
  const address = episode.record && `#/records/${encodeURIComponent(episode.record)}`;
  return [
    episode.agent,
    episode.problem,
    String(episode.seed),
    String(episode.repeat + 1),
    episode.ending,
    String(episode.steps),
    address ? h("a", { href: address }, word) : word,
  ];
}

/** Return the plots and the tables of a report. */
function buildReport(report) {
  const [overall, ...others] = report.tables;
  if (!overall) return h("p", {}, "No episode has finished yet.");
  const links = [...report.tables, { name: "episodes", title: "Episodes" }].map((found) =>
    h("a", { href: "#", onclick: (event) => scrollToTable(event, found.name) }, found.title),
  );
  return [
    plotAccuracy(overall, "Accuracy with its 95% interval"),
    h("nav", { class: "contents", "aria-label": "Tables" }, links),
    buildTable(overall),
    others.map((found) => [buildTable(found)]),
  ];
}

function scrollToTable(event, name) {
  event.preventDefault();
  document.getElementById(`table-${name}`)?.scrollIntoView();
}

/** Return a plot of the first column of shares, or nothing. */
function plotAccuracy(found, title) {
  const column = found.header.findIndex((_, place) => found.rows.some((row) => isShare(row[place])));
  if (column < 0) return null;
  const bars = found.rows
    .filter((row) => isShare(row[column]) && row[column].value !== null)
    .map((row) => ({
      name: row
        .slice(0, found.labels || 1)
        .filter((label) => label !== "–")
        .join(", "),
      value: row[column].value,
      ...readInterval(row[column].interval),
      detail: `${row[column].count} of ${row[column].total}`,
    }));
  return drawIntervals(title, bars);
}

function buildTable(found) {
  const rows = found.rows.map((row) => row.map(formatCell));
  return h(
    "section",
    { id: `table-${found.name}`, "aria-label": found.title },
    table(found.title, found.header, rows),
    found.note && h("p", { class: "hint" }, found.note),
  );
}

function isShare(cell) {
  return cell !== null && typeof cell === "object" && "total" in cell;
}

/** Format a cell: a text, a number, a share with its interval, or an amount with its unit. */
function formatCell(cell) {
  if (cell === null || cell.value === null) return "–";
  if (typeof cell !== "object") return typeof cell === "number" ? number(cell) : cell;
  if (isShare(cell)) {
    const { low, high } = readInterval(cell.interval);
    return `${percent(cell.value)} [${Math.round(low * 100)}, ${Math.round(high * 100)}]`;
  }
  const digits = cell.digits ?? 1;
  if (cell.unit === "%") return percent(cell.value, digits);
  if (cell.unit === "points") return `${cell.value >= 0 ? "+" : ""}${(cell.value * 100).toFixed(digits)}`;
  if (cell.unit === "$") return `$${cell.value.toFixed(digits)}`;
  return `${Number(cell.value.toFixed(digits)).toLocaleString("en")}${cell.unit ? ` ${cell.unit}` : ""}`;
}

function readInterval(interval) {
  if (Array.isArray(interval)) return { low: interval[0], high: interval[1] };
  return interval || { low: 0, high: 1 };
}
