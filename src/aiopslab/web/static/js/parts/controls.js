/** Controls of forms, made from JSON schemas. */

import { h, select } from "../dom.js";

/**
 * Return a control for a parameter, and a function that reads its value; undefined means that it is left out.
 * @param {string} name
 * @param {object} schema
 * @param {Object<string, string>} known values that a session knows, such as its namespace
 */
export function buildControl(name, schema, known = {}) {
  const own = schema.anyOf?.find((option) => option.type !== "null") || schema;
  const preset = schema.default ?? known[name] ?? "";
  const required = schema.default === undefined && !schema.anyOf;
  if (own.enum) {
    const control = select({ name }, own.enum.map(String), String(preset));
    return { control, read: () => control.value };
  }
  if (own.type === "boolean") {
    const control = h("input", { type: "checkbox", name, checked: preset === true });
    return { control, read: () => control.checked };
  }
  if (own.type === "integer" || own.type === "number") {
    const control = h("input", {
      type: "number",
      name,
      step: own.type === "integer" ? 1 : "any",
      value: preset,
      required,
    });
    return { control, read: () => (control.value === "" ? undefined : Number(control.value)) };
  }
  if (own.type === "array") {
    const control = h("textarea", { name, rows: 3, placeholder: "one on each line" });
    return { control, read: () => splitLines(control.value) };
  }
  if (own.type === "object" || !own.type) {
    const control = h("textarea", { name, rows: 3, placeholder: "{ } as JSON" });
    return { control, read: () => (control.value.trim() ? JSON.parse(control.value) : undefined) };
  }
  const control = h("input", {
    type: "text",
    name,
    value: preset,
    required,
    autocomplete: "off",
    spellcheck: "false",
  });
  return { control, read: () => (control.value === "" && !required ? undefined : control.value) };
}

/** Return the lines of a text that are not empty, without spaces around them. */
function splitLines(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}
