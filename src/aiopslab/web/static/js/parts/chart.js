/** Line charts over time, with markers for what happened. */

import { h, svg } from "../dom.js";
import { clock } from "../format.js";

const SIZE = { width: 640, height: 170 };
const LABEL_WIDTH = 12;
const PAD = { left: 46, right: 12, top: 16, bottom: 24 };

/**
 * Draw lines over time.
 * @param {object} chart
 * @param {string} chart.title
 * @param {Array<{name: string, series: number, points: Array<[number, number|null]>, steps?: boolean}>} chart.lines
 * @param {Array<{at_s: number, kind: string, text: string, number?: number}>} [chart.markers]
 * @param {number} [chart.highest] the least upper end of the vertical axis
 * @param {function(number): string} [chart.format] of values on the vertical axis
 * @param {[number, number]} [chart.range] of the horizontal axis
 * @param {number|null} [chart.cursor] a time to point at
 */
export function drawChart({
  title,
  lines,
  markers = [],
  highest = 1,
  format = String,
  range = null,
  cursor = null,
}) {
  const times = [
    ...lines.flatMap((line) => line.points.map(([at]) => at)),
    ...markers.map((marker) => marker.at_s),
  ];
  const [first, last] = range || [Math.min(0, ...times), Math.max(1, ...times)];
  const values = lines.flatMap((line) => line.points.map(([, value]) => value ?? 0));
  const top = Math.max(highest, ...values) * 1.05;
  const x = (at) =>
    PAD.left + ((at - first) / Math.max(1e-9, last - first)) * (SIZE.width - PAD.left - PAD.right);
  const y = (value) => SIZE.height - PAD.bottom - (value / top) * (SIZE.height - PAD.top - PAD.bottom);
  const isInside = (marker) => marker.at_s >= first && marker.at_s <= last;
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${SIZE.width} ${SIZE.height}`,
      class: "chart",
      role: "img",
      "aria-label": describe(title, lines, markers, format),
    },
    listTicks(0, top, 3).map((value) => drawLevel(y(value), format(value))),
    listTicks(first, last, 6).map((at) =>
      svg("text", { x: x(at), y: SIZE.height - 6, class: "tick", "text-anchor": "middle" }, clock(at)),
    ),
    thinLabels(markers.filter(isInside), x).map((marker) => drawMarker(marker, x(marker.at_s))),
    lines.map((line) => svg("path", { class: `line series-${line.series}`, d: trace(line, x, y) })),
    cursor !== null &&
      svg("line", {
        class: "cursor",
        x1: x(cursor),
        x2: x(cursor),
        y1: PAD.top,
        y2: SIZE.height - PAD.bottom,
      }),
  );
  const names = lines.map((line) => h("li", { class: `series-${line.series}` }, line.name));
  return h(
    "figure",
    { class: "chart-box" },
    h("figcaption", {}, title, h("ul", { class: "legend" }, names)),
    picture,
  );
}

/** Return the path of a line; a missing value interrupts it. */
function trace(line, x, y) {
  let path = "";
  let before = null;
  for (const [at, value] of line.points) {
    if (value === null || value === undefined) {
      before = null;
      continue;
    }
    const here = `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
    if (before === null) path += `M${here}`;
    else path += line.steps ? `L${x(at).toFixed(1)},${y(before).toFixed(1)}L${here}` : `L${here}`;
    before = value;
  }
  return path;
}

function drawLevel(height, text) {
  return svg(
    "g",
    {},
    svg("line", { class: "grid", x1: PAD.left, x2: SIZE.width - PAD.right, y1: height, y2: height }),
    svg("text", { class: "tick", x: PAD.left - 6, y: height + 4, "text-anchor": "end" }, text),
  );
}

/** Return the markers in order of time; an action that is too near to the one before gets no label. */
function thinLabels(markers, x) {
  let last = -Infinity;
  return [...markers]
    .sort((a, b) => a.at_s - b.at_s)
    .map((marker) => {
      if (marker.kind !== "action") return { ...marker, label: marker.text };
      const hasRoom = x(marker.at_s) - last > LABEL_WIDTH;
      if (hasRoom) last = x(marker.at_s);
      return { ...marker, label: hasRoom ? String(marker.number) : "" };
    });
}

function drawMarker(marker, x) {
  const isNearEnd = x > SIZE.width - 90;
  return svg(
    "g",
    { class: `marker ${marker.kind}` },
    svg("title", {}, `${clock(marker.at_s)} ${marker.kind}: ${marker.text}`),
    svg("line", { x1: x, x2: x, y1: PAD.top, y2: SIZE.height - PAD.bottom }),
    svg(
      "text",
      {
        x: isNearEnd ? x - 3 : x + 3,
        y: marker.kind === "action" ? PAD.top - 4 : PAD.top + 9,
        "text-anchor": isNearEnd ? "end" : "start",
      },
      marker.label,
    ),
  );
}

/** Return about the given number of round values from low to high. */
function listTicks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const isTime = high - low > 60;
  const units = isTime
    ? [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200]
    : [1, 2, 5, 10].map((unit) => unit * power);
  const unit = units.find((candidate) => candidate >= raw) || units.at(-1);
  const ticks = [];
  for (let value = Math.ceil(low / unit) * unit; value <= high; value += unit) ticks.push(value);
  return ticks;
}

/** Describe a chart in a sentence, for those who do not see it. */
function describe(title, lines, markers, format) {
  const last = lines.map((line) => {
    const known = line.points.filter(([, value]) => value !== null && value !== undefined);
    return known.length
      ? `${line.name} at the end ${format(known.at(-1)[1])}`
      : `${line.name} without values`;
  });
  const events = markers
    .filter((marker) => marker.kind !== "action")
    .map((marker) => `${marker.text} at ${clock(marker.at_s)}`);
  return `${title}: ${[...last, ...events].join("; ")}.`;
}
