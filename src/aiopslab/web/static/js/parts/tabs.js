/** Tabs that work with the arrow keys, as ARIA describes them. */

import { h } from "../dom.js";

export class Tabs {
  /**
   * @param {string} label
   * @param {Array<{name: string, title: string, node: Node}>} panels
   * @param {function(string): void} onChange gets the name of the chosen panel
   */
  constructor(label, panels, onChange = () => {}) {
    this.onChange = onChange;
    this.tabs = new Map();
    this.panels = new Map();
    const list = h("div", { role: "tablist", "aria-label": label, onkeydown: (event) => this.move(event) });
    this.node = h("div", { class: "tabs" }, list);
    for (const { name, title, node } of panels) {
      const attributes = { id: `tab-${name}`, role: "tab", type: "button", "aria-controls": `panel-${name}` };
      const tab = h("button", { ...attributes, onclick: () => this.choose(name) }, title);
      const panel = h(
        "div",
        { id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, tabindex: "0" },
        node,
      );
      this.tabs.set(name, tab);
      this.panels.set(name, panel);
      list.append(tab);
      this.node.append(panel);
    }
    this.choose(panels[0].name);
  }

  /** Show a panel. */
  choose(name) {
    this.chosen = name;
    for (const [other, tab] of this.tabs) {
      const isChosen = other === name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.setAttribute("tabindex", isChosen ? "0" : "-1");
      this.panels.get(other).toggleAttribute("hidden", !isChosen);
    }
    this.onChange(name);
  }

  move(event) {
    const names = [...this.tabs.keys()];
    const place = names.indexOf(this.chosen);
    const steps = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: names.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const name = names[(steps[event.key] + names.length) % names.length];
    this.choose(name);
    this.tabs.get(name).focus();
  }
}
