/** Traces: a list, and one of them as a waterfall. */

import { field, h, replace, select, svg, table } from "../dom.js";
import { duration } from "../format.js";

const ROW = 20;
const NAMES = 260;
const BARS = 460;

export class TracesPanel {
  constructor(view) {
    this.view = view;
    this.service = select({ name: "service", onchange: () => this.refresh() }, [["", "all"]]);
    this.onlyErrors = h("input", { type: "checkbox", onchange: () => this.refresh() });
    this.shortest = h("input", {
      type: "number",
      name: "min_ms",
      min: 0,
      value: "",
      onchange: () => this.refresh(),
    });
    this.list = h("div");
    this.detail = h("div", { "aria-live": "polite" });
    const errors = h("label", { class: "choice" }, this.onlyErrors, " With errors");
    const button = h("button", { type: "button", onclick: () => this.refresh() }, "Refresh");
    const row = h(
      "div",
      { class: "row" },
      field("Service", this.service),
      field("At least ms", this.shortest),
      errors,
      button,
    );
    this.node = h("div", {}, row, this.detail, this.list);
  }

  /** Choose a service, which is added to the list if it is not there. */
  choose(name) {
    if (![...this.service.options].some((option) => option.value === name)) {
      this.service.append(h("option", { value: name }, name));
    }
    this.service.value = name;
  }

  async refresh() {
    const found = await this.view("traces", {
      service: this.service.value,
      errors: this.onlyErrors.checked ? "1" : "",
      min_ms: this.shortest.value,
    });
    for (const name of found.services) {
      if (![...this.service.options].some((option) => option.value === name)) {
        this.service.append(h("option", { value: name }, name));
      }
    }
    const rows = found.traces.map((trace) => [
      new Date(trace.start_us / 1000).toISOString().slice(11, 23),
      h(
        "button",
        { type: "button", class: "link", onclick: () => this.showTrace(trace.id) },
        `${trace.service}: ${trace.operation}`,
      ),
      duration(trace.duration_us / 1e6),
      trace.spans,
      h("span", { class: trace.errors ? "state bad" : "state" }, trace.errors),
    ]);
    replace(this.list, table("Newest traces", ["start", "request", "duration", "spans", "errors"], rows));
  }

  async showTrace(id) {
    const trace = await this.view("traces", { id });
    replace(this.detail, buildWaterfall(trace));
    this.detail.scrollIntoView({ block: "nearest" });
  }
}

/** Return a trace as a waterfall: a row for each span, a bar from its start to its end. */
function buildWaterfall(trace) {
  const total = Math.max(1, trace.duration_us);
  const height = trace.rows.length * ROW + 4;
  const title = `Trace ${trace.id}: ${duration(total / 1e6)}, ${trace.spans} spans, ${trace.errors} with errors`;
  const rows = trace.rows.map((span, index) => {
    const x = NAMES + (span.offset_us / total) * BARS;
    const width = Math.max(2, (span.duration_us / total) * BARS);
    const text = `${span.service}: ${span.operation}`;
    const indent = Math.min(span.depth, 12) * 10;
    const room = Math.floor((NAMES - indent) / 6.6);
    const isLate = x + width > NAMES + BARS - 60;
    return svg(
      "g",
      { class: span.error ? "span bad" : "span", transform: `translate(0,${index * ROW})` },
      svg(
        "title",
        {},
        [text, duration(span.duration_us / 1e6), ...span.tags.map(([key, value]) => `${key}=${value}`)].join(
          "\n",
        ),
      ),
      svg(
        "text",
        { x: indent, y: 14, class: "name" },
        text.length > room ? `${text.slice(0, room - 1)}…` : text,
      ),
      svg("rect", { x, y: 3, width, height: ROW - 6, rx: 2 }),
      svg(
        "text",
        { x: isLate ? x - 4 : x + width + 4, y: 14, "text-anchor": isLate ? "end" : "start", class: "time" },
        duration(span.duration_us / 1e6),
      ),
    );
  });
  const picture = svg(
    "svg",
    { class: "waterfall", viewBox: `0 0 ${NAMES + BARS} ${height}`, role: "img", "aria-label": title },
    rows,
  );
  const list = trace.rows.map((span) => [
    `${"· ".repeat(span.depth)}${span.service}`,
    span.operation,
    duration(span.offset_us / 1e6),
    duration(span.duration_us / 1e6),
    span.error ? "error" : "",
    span.tags.map(([key, value]) => `${key}=${value}`).join(" "),
  ]);
  return h(
    "section",
    { class: "trace", "aria-label": title },
    h("h3", {}, title),
    h("div", { class: "wide", tabindex: "0" }, picture),
    trace.left_off > 0 && h("p", { class: "hint" }, `${trace.left_off} more spans are not shown.`),
    h(
      "details",
      {},
      h("summary", {}, "Spans with their tags"),
      table("Spans", ["service", "operation", "start", "duration", "", "tags"], list),
    ),
  );
}
