/** What can be seen of a session's system: topology, time series, pods, events, logs and traces. */

import { ApiError, get, poll } from "../api.js";
import { h, replace } from "../dom.js";
import { duration, number, percent } from "../format.js";
import { drawChart } from "./chart.js";
import { EventsPanel, LogsPanel, PodsPanel } from "./cluster_panels.js";
import { Tabs } from "./tabs.js";
import { TopologyView } from "./topology.js";
import { TracesPanel } from "./traces_panel.js";

const INTERVAL_MS = 5000;

export class SessionPanels {
  /**
   * @param {string} url of the session
   * @param {AbortSignal} signal
   */
  constructor(url, signal) {
    this.url = url;
    this.signal = signal;
    this.onSummary = () => {};
    this.onNamespace = () => {};
    const view = (what, parameters) => get(`${url}/view/${what}`, parameters, signal);
    this.view = view;
    this.topology = new TopologyView((service) => this.showService(service));
    this.timeline = h("div", { class: "timeline" });
    this.logs = new LogsPanel(view);
    this.traces = new TracesPanel(view);
    this.panels = {
      topology: { refresh: () => this.refreshTopology() },
      timeline: { refresh: async () => this.drawTimeline(await view("series", {})) },
      pods: new PodsPanel(view, (name) => this.showLogs(name)),
      events: new EventsPanel(view),
      logs: this.logs,
      traces: this.traces,
    };
    this.error = h("p", { class: "hint", role: "status" });
    this.tabs = new Tabs(
      "The system",
      [
        { name: "topology", title: "Topology", node: this.topology.node },
        { name: "timeline", title: "Timeline", node: this.timeline },
        { name: "pods", title: "Pods", node: this.panels.pods.node },
        { name: "events", title: "Events", node: this.panels.events.node },
        { name: "logs", title: "Logs", node: this.logs.node },
        { name: "traces", title: "Traces", node: this.traces.node },
      ],
      () => this.refresh(),
    );
    this.node = h("div", {}, this.tabs.node, this.error);
  }

  /** Begin to show the system; of a session that has ended, only its course over time. */
  start(isOpen) {
    this.isOpen = isOpen;
    if (!isOpen) {
      this.finish();
      return;
    }
    poll(() => this.refresh(), INTERVAL_MS, this.signal);
  }

  /** Refresh the summary and the panel that is shown. A call while another is under way has it run once more. */
  async refresh() {
    if (!this.isOpen) return;
    if (this.isBusy) {
      this.isStale = true;
      return;
    }
    this.isBusy = true;
    try {
      do {
        this.isStale = false;
        const summary = await this.view("summary", {});
        this.onSummary(summary);
        if (summary.namespace !== this.namespace) this.onNamespace(summary.namespace);
        this.namespace = summary.namespace;
        // Drawing a list anew takes the focus from its buttons, so it happens only when simulated time has passed.
        const state = `${this.tabs.chosen} ${summary.elapsed_s}`;
        if (state !== this.shown) await this.panels[this.tabs.chosen].refresh();
        this.shown = state;
        this.error.textContent = "";
      } while (this.isStale && this.isOpen);
    } catch (problem) {
      if (!this.signal.aborted && this.isOpen && problem.status !== 410)
        this.error.textContent = problem.message;
    } finally {
      this.isBusy = false;
    }
  }

  /** Draw the traffic of the last minute, in the topology of the last ten: what has failed since must stay in the picture. */
  async refreshTopology() {
    if (!this.hasTopology) this.topology.update(await this.view("topology", { seconds: 600 }));
    this.hasTopology = true;
    this.topology.update(await this.view("topology", { seconds: 60 }));
  }

  /** Show the course of a session that has ended; the other panels keep what they showed last. */
  async finish() {
    this.isOpen = false;
    try {
      this.onSummary(await this.view("summary", {}));
      this.drawTimeline(await this.view("series", {}));
      this.tabs.choose("timeline");
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      this.error.textContent = "The session is over, and its world with it. The record has every step.";
    }
  }

  drawTimeline({ users, severity, markers, end_s: end }) {
    const range = [Math.min(0, users[0]?.at_s ?? 0), Math.max(1, end)];
    const line = (name, series, key) => ({ name, series, points: users.map((row) => [row.at_s, row[key]]) });
    const points = severity.map((row) => [row.at_s, row.severity]);
    replace(
      this.timeline,
      drawChart({
        title: "Severity",
        lines: [{ name: "severity", series: 1, points, steps: true }],
        markers,
        format: percent,
        range,
      }),
      drawChart({
        title: "Users' requests per second",
        lines: [line("requests", 2, "rate"), line("errors", 3, "errors")],
        markers,
        format: (value) => number(value, 1),
        range,
      }),
      drawChart({
        title: "Latency of users' requests",
        lines: [line("p50", 2, "p50_s"), line("p99", 1, "p99_s")],
        markers,
        format: duration,
        highest: 0.01,
        range,
      }),
    );
  }

  showLogs(workload) {
    this.logs.choose(workload);
    this.tabs.choose("logs");
  }

  /** Show the traces of a service; its logs are chosen, too. */
  showService(service) {
    this.traces.choose(service);
    this.logs.choose(service);
    this.tabs.choose("traces");
  }
}
