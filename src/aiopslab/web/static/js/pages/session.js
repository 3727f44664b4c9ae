/** A session: the cluster to look at, and a terminal to work in, or an agent's steps to watch. */

import { follow, get, path, poll, post, remove } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { clock, level, percent, timeOfDay } from "../format.js";
import { buildActionForm, buildSubmitForm } from "../parts/action_form.js";
import { formatShellCall } from "../parts/calls.js";
import { SessionPanels } from "../parts/session_panels.js";
import { StepList } from "../parts/steps.js";
import { Tabs } from "../parts/tabs.js";
import { IncidentTerminal } from "../parts/terminal.js";
import { buildVerdict } from "../parts/verdict.js";

const WAIT_MS = 700;

/** Show a session: first that it is being prepared, then all of it. */
export async function showSession(main, [id], signal) {
  let session = await get(path("sessions", id), {}, signal);
  if (session.state === "preparing") {
    replace(
      main,
      h("h1", {}, session.problem || "A session"),
      h(
        "p",
        { class: "loading", role: "status" },
        "The world is being prepared: the cluster starts, the application is deployed, users arrive. This takes some seconds.",
      ),
    );
    session = await waitUntilOpen(id, signal);
  }
  if (session.state === "ended" && session.error && !session.record) throw new Error(session.error);
  await new SessionPage(main, session, signal).open();
}

function waitUntilOpen(id, signal) {
  return new Promise((resolve, reject) => {
    const waiting = new AbortController();
    signal.addEventListener("abort", () => waiting.abort());
    const fail = (problem) => {
      waiting.abort();
      reject(problem);
    };
    poll(
      async () => {
        const session = await get(path("sessions", id), {}, signal);
        if (session.state === "preparing") return;
        waiting.abort();
        resolve(session);
      },
      WAIT_MS,
      waiting.signal,
      fail,
    );
  });
}

class SessionPage {
  constructor(main, session, signal) {
    this.main = main;
    this.session = session;
    this.signal = signal;
    this.url = path("sessions", session.id);
    this.panels = new SessionPanels(this.url, signal);
    this.steps = new StepList("Steps");
    this.summary = h("p", { class: "summary" });
    this.result = h("div", { "aria-live": "assertive" });
    this.work = h("section", { class: "work", "aria-label": "Work" });
    this.endButton = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.giveUp() },
      "End the session",
    );
  }

  async open() {
    const { session } = this;
    const isOpen = session.state === "open";
    const title = session.problem || (isOpen ? `Unknown ${session.task || ""} problem` : "A session");
    replace(
      this.main,
      h("h1", {}, title),
      h("div", { class: "row between" }, this.summary, isOpen && this.endButton),
      this.result,
      h(
        "div",
        { class: "desk" },
        h("section", { class: "watch", "aria-label": "The system" }, this.panels.node),
        this.work,
      ),
    );
    const record = await get(`${this.url}/record`, {}, this.signal);
    this.steps.firstSeverity = record.health?.severity ?? null;
    for (const step of record.steps) this.steps.add(step);
    if (!isOpen) {
      this.showEnd(record);
    } else {
      if (session.agent) this.watchAgent();
      else this.offerWork();
      this.events = follow(
        session.id,
        { step: (step) => this.takeStep(step), ended: () => this.end() },
        this.signal,
      );
    }
    this.panels.onSummary = (summary) => this.showSummary(summary);
    this.panels.start(isOpen);
  }

  /** Show an agent's steps as they come. */
  watchAgent() {
    const task = h("details", {}, h("summary", {}, "Its task"), this.buildTask());
    replace(this.work, h("h2", {}, `${this.session.agent} at work`), task, this.steps.node);
  }

  /** Return what whoever works on the session is given. */
  buildTask() {
    const { description, instructions } = this.session;
    return [
      h("pre", { class: "prose" }, description || ""),
      h("pre", { class: "prose" }, instructions || ""),
    ];
  }

  /** Let a person work: a terminal, the other actions, the submission, and the steps so far. */
  offerWork() {
    const tools = this.session.actions || [];
    const perform = (call) => this.perform(call);
    const terminal = new IncidentTerminal((line) =>
      this.perform(formatShellCall(line)).then((done) => done.observation),
    );
    const terminalBox = h("div");
    const output = h("pre", {
      class: "output",
      tabindex: "0",
      "aria-live": "polite",
      "aria-label": "Result of the action",
    });
    const act = async (call) => {
      output.textContent = "…";
      output.textContent = (await perform(call)).observation;
    };
    const submit = async (call) => {
      this.panels.isOpen = false; // there is nothing to see while the session is judged
      try {
        const done = await perform(call);
        if (!done.ended) throw new Error(done.observation);
      } catch (problem) {
        this.panels.isOpen = true;
        throw problem;
      }
    };
    const actions = h("div");
    this.panels.onNamespace = (namespace) =>
      replace(actions, buildActionForm(tools, act, { namespace }), output);
    const tabs = new Tabs("Work", [
      { name: "task", title: "Task", node: h("div", {}, this.buildTask()) },
      { name: "terminal", title: "Terminal", node: terminalBox },
      { name: "actions", title: "Actions", node: actions },
      { name: "steps", title: "Steps", node: this.steps.node },
      { name: "submit", title: "Submit", node: buildSubmitForm(tools, submit) },
    ]);
    replace(this.work, tabs.node);
    terminal.open(
      terminalBox,
      "Commands run on the operator's host. Each costs simulated time and is a step.",
      this.signal,
    );
    if (this.steps.steps.length > 0) tabs.choose("terminal");
  }

  /** Perform an action, and refresh what is shown; raises ApiError. */
  async perform(call) {
    const done = await post(`${this.url}/actions`, { action: call }, this.signal);
    if (!done.ended) this.panels.refresh();
    return done;
  }

  takeStep(step) {
    if (!this.steps.add(step)) return;
    if (this.session.agent) announce(`Step ${step.number}.`);
    if (step.api_name !== "submit") this.panels.refresh();
  }

  /** Show the verdict of a session that has just ended. */
  async end() {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.events?.close();
    const record = await get(`${this.url}/record`, {}, this.signal);
    for (const step of record.steps) this.steps.add(step);
    this.session = await get(this.url, {}, this.signal);
    this.main.querySelector("h1").textContent = this.session.problem || "A session";
    this.endButton.remove();
    this.showEnd(record);
    this.panels.finish();
  }

  showEnd(record) {
    const name = this.session.record;
    replace(this.work, h("h2", {}, "Steps"), this.steps.node);
    replace(
      this.result,
      buildVerdict(record),
      name && h("p", {}, h("a", { href: `#/records/${encodeURIComponent(name)}` }, "Replay the session")),
    );
  }

  showSummary(summary) {
    const left = summary.max_steps ? ` of ${summary.max_steps}` : "";
    replace(
      this.summary,
      h("span", {}, `${timeOfDay(summary.time)}, ${clock(summary.elapsed_s)} in`),
      h("span", {}, `step ${summary.steps}${left}`),
      h("span", { class: `badge ${level(summary.severity)}` }, `severity ${percent(summary.severity)}`),
      h("span", {}, `${percent(summary.failed)} of requests failed, ${percent(summary.slow)} slow`),
    );
  }

  async giveUp() {
    this.endButton.disabled = true;
    await remove(this.url);
    await this.end();
  }
}
