/** Calls of actions as text, in the form that agents write them in. */

/** Return a value as a Python literal. */
export function formatValue(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value)
      .map(([key, item]) => `${formatValue(key)}: ${formatValue(item)}`)
      .join(", ")}}`;
  }
  return JSON.stringify(value);
}

/**
 * Return the call of an action.
 * @param {string} name
 * @param {Object<string, any>} named arguments by name
 */
export function formatCall(name, named = {}) {
  const parts = Object.entries(named).map(([key, value]) => `${key}=${formatValue(value)}`);
  return `${name}(${parts.join(", ")})`;
}

/** Return the call that runs a command at the terminal. */
export function formatShellCall(line) {
  return `exec_shell(${formatValue(line)})`;
}

/** Return the call of a recorded step, or the beginning of an answer without one. */
export function formatStep(step) {
  if (!step.api_name)
    return String(step.response || "")
      .trim()
      .split("\n")[0]
      .slice(0, 200);
  if (step.api_name === "exec_shell" && typeof step.args?.[0] === "string") return `$ ${step.args[0]}`;
  const positional = (step.args || []).map(formatValue);
  const named = Object.entries(step.kwargs || {}).map(([key, value]) => `${key}=${formatValue(value)}`);
  return `${step.api_name}(${[...positional, ...named].join(", ")})`;
}
