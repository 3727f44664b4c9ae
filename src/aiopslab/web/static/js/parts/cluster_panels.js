/** Pods, events and logs of a session's cluster. */

import { field, h, replace, select, table } from "../dom.js";
import { timeOfDay } from "../format.js";

/** A select for the namespace that keeps the choice when its options change. */
class NamespaceField {
  constructor(onChange) {
    this.control = h("select", { name: "namespace", onchange: onChange });
    this.node = field("Namespace", this.control);
    this.names = "";
  }

  get value() {
    return this.control.value;
  }

  update(names, chosen) {
    if (names.join() === this.names) return;
    this.names = names.join();
    replace(
      this.control,
      names.map((name) => h("option", { value: name, selected: name === chosen }, name)),
    );
  }
}

export class PodsPanel {
  /** @param {function(string, object): Promise<any>} view fetches a view of the session */
  constructor(view, onWorkload) {
    this.view = view;
    this.onWorkload = onWorkload;
    this.namespace = new NamespaceField(() => this.refresh());
    this.content = h("div");
    this.node = h("div", {}, h("div", { class: "row" }, this.namespace.node), this.content);
  }

  async refresh() {
    const found = await this.view("pods", { namespace: this.namespace.value });
    this.namespace.update(found.namespaces, found.namespace);
    const state = (isGood, text) => h("span", { class: isGood ? "state good" : "state bad" }, text);
    const workloads = found.workloads.map((workload) => [
      h(
        "button",
        { type: "button", class: "link", onclick: () => this.onWorkload(workload.name) },
        workload.name,
      ),
      workload.kind,
      state(
        workload.ready >= workload.desired && workload.desired > 0,
        `${workload.ready}/${workload.desired}`,
      ),
      workload.restarts,
    ]);
    const pods = found.pods.map((pod) => {
      const [ready, total] = String(pod.ready).split("/");
      const isGood = pod.status === "Completed" || (pod.status === "Running" && ready === total);
      return [pod.name, pod.ready, state(isGood, pod.status), String(pod.restarts), pod.age, pod.node];
    });
    const scrolled = this.content.parentElement?.scrollTop;
    replace(
      this.content,
      table("Workloads", ["workload", "kind", "ready", "restarts"], workloads),
      table("Pods", ["pod", "ready", "status", "restarts", "age", "node"], pods),
    );
    if (scrolled) this.content.parentElement.scrollTop = scrolled;
  }
}

export class EventsPanel {
  constructor(view) {
    this.view = view;
    this.onlyWarnings = h("input", { type: "checkbox", onchange: () => this.refresh() });
    this.content = h("div");
    const choice = h("label", { class: "choice" }, this.onlyWarnings, " Warnings only");
    this.node = h("div", {}, h("div", { class: "row" }, choice), this.content);
  }

  async refresh() {
    const found = await this.view("events", {});
    const events = found.events.filter((event) => event.type === "Warning" || !this.onlyWarnings.checked);
    const rows = events.map((event) => [
      timeOfDay(event.time),
      h("span", { class: event.type === "Warning" ? "state bad" : "state" }, event.type),
      event.reason,
      event.object,
      event.count,
      event.message,
    ]);
    const header = ["last seen", "type", "reason", "object", "count", "message"];
    replace(this.content, table(`Events of ${found.namespace}`, header, rows));
  }
}

export class LogsPanel {
  constructor(view) {
    this.view = view;
    this.workload = select({ name: "workload", onchange: () => this.refresh() }, [["", "all"]]);
    this.text = h("input", { type: "search", name: "text", placeholder: "text in the line" });
    this.content = h("pre", { class: "output logs", tabindex: "0", "aria-label": "Log lines" });
    const onSubmit = (event) => {
      event.preventDefault();
      this.refresh();
    };
    const button = h("button", { type: "submit" }, "Search");
    const form = h(
      "form",
      { class: "row", onsubmit: onSubmit },
      field("Workload", this.workload),
      field("Text", this.text),
      button,
    );
    this.node = h("div", {}, form, this.content);
  }

  /** Choose a workload, which is added to the list if it is not there. */
  choose(name) {
    if (![...this.workload.options].some((option) => option.value === name)) {
      this.workload.append(h("option", { value: name }, name));
    }
    this.workload.value = name;
  }

  async refresh() {
    if (this.workload.options.length === 1) {
      const { workloads } = await this.view("pods", {});
      for (const { name } of workloads) this.workload.append(h("option", { value: name }, name));
    }
    const found = await this.view("logs", {
      workload: this.workload.value,
      text: this.text.value,
      lines: 300,
    });
    const isAtEnd = this.content.scrollTop + this.content.clientHeight >= this.content.scrollHeight - 30;
    const lines = found.lines.map((line) => `${timeOfDay(line.time)} ${line.pod} ${line.text}`);
    this.content.textContent = lines.join("\n") || "No lines.";
    if (isAtEnd) this.content.scrollTop = this.content.scrollHeight;
  }
}
