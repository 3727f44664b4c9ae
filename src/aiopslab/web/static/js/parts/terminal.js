/** The terminal: xterm.js with a line editor in front of the action `exec_shell`. */

import { h } from "../dom.js";
import { LineEditor } from "./line_editor.js";

/** Everything but text, line ends and colours: other sequences could move the cursor or ask the terminal for an answer. */
const UNSAFE = /\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Return an observation as a terminal may show it. */
export function cleanOutput(text) {
  const kept = text.replace(UNSAFE, (found) => (found.startsWith("\x1b[") ? found : ""));
  return kept.replace(/\n/g, "\r\n");
}

export class IncidentTerminal {
  /** @param {function(string): Promise<string>} run performs a line and returns its output */
  constructor(run) {
    this.run = run;
    this.node = h("div", { class: "console", role: "group", "aria-label": "Terminal. Tab leaves it." });
    this.xterm = new window.Terminal({
      cursorBlink: true,
      fontSize: 12,
      screenReaderMode: true,
      scrollback: 5000,
      theme: readColours(),
    });
    this.fit = new window.FitAddon.FitAddon();
    this.xterm.loadAddon(this.fit);
    this.editor = new LineEditor(
      (text) => this.xterm.write(text),
      () => this.xterm.cols,
      (line) => this.perform(line),
    );
  }

  /** Show the terminal in the page, and a first text; it follows the size of its box until the signal. */
  open(parent, greeting, signal) {
    parent.append(this.node);
    adoptStyles(this.node, signal);
    this.xterm.open(this.node);
    // Tab leaves the terminal, so that the keyboard is not trapped in it.
    this.xterm.attachCustomKeyEventHandler((event) => event.key !== "Tab");
    this.xterm.onData((data) => this.editor.feed(data));
    const resize = new ResizeObserver(() => this.fit.fit());
    resize.observe(this.node);
    const recolour = () => {
      this.xterm.options.theme = readColours();
    };
    document.addEventListener("themechange", recolour);
    signal.addEventListener("abort", () => {
      resize.disconnect();
      document.removeEventListener("themechange", recolour);
      this.xterm.dispose();
    });
    this.fit.fit();
    if (greeting) this.print(greeting);
    this.editor.open();
  }

  /** Show text on lines of its own. */
  print(text) {
    const end = text.endsWith("\n") ? "" : "\n";
    this.xterm.write(cleanOutput(text ? text + end : ""));
  }

  /** Perform a line, show its output, and prompt again. */
  async perform(line) {
    try {
      this.print(await this.run(line));
    } catch (error) {
      this.print(error.message);
    }
    this.editor.open();
  }
}

/** Return the colours of the present theme. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    background: colour("--terminal"),
    foreground: colour("--terminal-text"),
    cursor: colour("--accent"),
    selectionBackground: colour("--selection"),
  };
}

/**
 * Adopt the rules that xterm.js writes into style elements.
 *
 * A Content-Security-Policy without inline styles ignores such elements, but not style sheets that a script builds.
 */
function adoptStyles(node, signal) {
  const sheet = new CSSStyleSheet();
  let known = "";
  const update = () => {
    const rules = [...node.querySelectorAll("style")].map((style) => style.textContent).join("\n");
    if (rules !== known) sheet.replaceSync(rules);
    known = rules;
  };
  const observer = new MutationObserver(update);
  observer.observe(node, { childList: true, subtree: true, characterData: true });
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  signal.addEventListener("abort", () => {
    observer.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  });
}
