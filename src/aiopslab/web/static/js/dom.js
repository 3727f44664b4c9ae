/**
 * Elements without HTML strings: all text is set as text, so that nothing an agent or a cluster prints becomes markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Set attributes and add children. Keys that begin with "on" are listeners; null and false leave an attribute out.
 * @param {Element} node
 * @param {Object<string, any>} attributes
 * @param {Array<Node|string|number|null|Array>} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...flatten(children));
  return node;
}

function flatten(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** Create an HTML element. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Replace the children of a node. */
export function replace(node, ...children) {
  node.replaceChildren(...flatten(children));
  return node;
}

/** Tell screen readers about a change, in a sentence. */
export function announce(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}

/** Return a labelled form field: the label and its control. */
export function field(label, control, hint = "") {
  return h("label", { class: "field" }, h("span", {}, label), control, hint && h("small", {}, hint));
}

/** Return a select with options, each a text or a pair of value and text. */
export function select(attributes, options, chosen = "") {
  const node = h("select", attributes);
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    node.append(h("option", { value, selected: value === chosen }, text));
  }
  return node;
}

/**
 * Return a table in a box that scrolls sideways.
 * @param {string} caption
 * @param {string[]} header
 * @param {Array<Array<any>>} rows cells are nodes, texts or numbers
 */
export function table(caption, header, rows, attributes = {}) {
  const isNumeric = header.map((_, place) => rows.length > 0 && rows.every((row) => isNumber(row[place])));
  const cell = (tag, value, place) => h(tag, { class: isNumeric[place] ? "number" : null }, value);
  return h(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      attributes,
      h("caption", {}, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          header.map((name, place) => cell("th", name, place)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((value, place) => cell("td", value, place)),
          ),
        ),
      ),
    ),
  );
}

function isNumber(value) {
  return (
    typeof value === "number" || (typeof value === "string" && /^[-+–]?[\d.,]*( ?(%|s|ms|\/s))?$/.test(value))
  );
}

/** Return a list of terms with their descriptions; empty descriptions are left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h(
    "dl",
    { class: "facts" },
    shown.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}
