/** A plot of shares with their intervals, one row each. */

import { h, svg } from "../dom.js";
import { percent } from "../format.js";

const ROW = 28;
const NAMES = 190;
const WIDTH = 640;
const RIGHT = 60;

/**
 * Draw shares from 0 to 1.
 * @param {string} title
 * @param {Array<{name: string, value: number, low: number, high: number, detail: string}>} bars
 */
export function drawIntervals(title, bars) {
  const height = bars.length * ROW + 26;
  const x = (share) => NAMES + share * (WIDTH - NAMES - RIGHT);
  const label = `${title}: ${bars.map((bar) => `${bar.name} ${percent(bar.value)}, ${bar.detail}`).join("; ")}.`;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    svg(
      "g",
      {},
      svg("line", { class: "grid", x1: x(share), x2: x(share), y1: 0, y2: height - 22 }),
      svg("text", { class: "tick", x: x(share), y: height - 6, "text-anchor": "middle" }, percent(share)),
    ),
  );
  const rows = bars.map((bar, index) =>
    svg(
      "g",
      { transform: `translate(0,${index * ROW})` },
      svg(
        "title",
        {},
        `${bar.name}: ${percent(bar.value)} [${percent(bar.low)}, ${percent(bar.high)}], ${bar.detail}`,
      ),
      svg("text", { class: "name", x: NAMES - 8, y: 18, "text-anchor": "end" }, bar.name.slice(0, 28)),
      svg("rect", {
        class: "bar",
        x: x(0),
        y: 7,
        width: Math.max(1, x(bar.value) - x(0)),
        height: ROW - 14,
        rx: 2,
      }),
      svg("line", { class: "whisker", x1: x(bar.low), x2: x(bar.high), y1: ROW / 2, y2: ROW / 2 }),
      svg("text", { class: "tick", x: WIDTH - RIGHT + 6, y: 18 }, percent(bar.value)),
    ),
  );
  return h(
    "figure",
    { class: "chart-box" },
    h("figcaption", {}, title),
    svg(
      "svg",
      { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
      grid,
      rows,
    ),
  );
}
