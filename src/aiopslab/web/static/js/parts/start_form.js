/** The form that starts a session: a person works the incident, or an agent does while one watches, or two for comparison. */

import { get, path, post } from "../api.js";
import { field, h, select } from "../dom.js";

const NOISE = [["", "as the problem says"], "none", "usual", "heavy"];

/**
 * Return the form.
 * @param {string|null} problem the id; null lets the server draw one
 * @param {AbortSignal} signal
 * @param {boolean} hasNoise whether other teams may make innocent changes in it
 */
export async function buildStartForm(problem, signal, hasNoise = true) {
  const agents = await get(path("agents"), {}, signal);
  const names = agents.map((agent) => agent.name);
  const options = [["", "I work it myself"], ...names];
  const agent = select({ name: "agent" }, options);
  const rival = select({ name: "rival" }, [["", "nobody"], ...names]);
  const seed = h("input", { type: "number", name: "seed", value: 0, min: 0, step: 1, required: true });
  const steps = h("input", { type: "number", name: "max_steps", value: 30, min: 1, step: 1, required: true });
  const noise = select({ name: "noise" }, NOISE);
  const error = h("p", { class: "error", role: "alert" });
  const button = h(
    "button",
    { type: "submit" },
    problem ? "Start a session" : "Start with a problem drawn at random",
  );
  const rivalField = field("Compared with", rival, "The same incident in a second session, side by side.");
  rivalField.toggleAttribute("hidden", true);
  agent.addEventListener("change", () => rivalField.toggleAttribute("hidden", !agent.value));

  const start = (name) =>
    post(path("sessions"), {
      problem,
      seed: Number(seed.value),
      max_steps: Number(steps.value),
      noise: noise.value || null,
      agent: name || null,
      wait: false,
    });

  const onSubmit = async (event) => {
    event.preventDefault();
    error.textContent = "";
    button.disabled = true;
    try {
      const first = await start(agent.value);
      const other = agent.value && rival.value ? await start(rival.value) : null;
      location.hash = other ? `#/compare/session:${first.id}/session:${other.id}` : `#/sessions/${first.id}`;
    } catch (problemOfStart) {
      error.textContent = problemOfStart.message;
      button.disabled = false;
    }
  };
  const more = h(
    "details",
    {},
    h("summary", {}, "Settings"),
    h(
      "div",
      { class: "row" },
      field("Seed", seed),
      field("Steps at most", steps),
      hasNoise && field("Noise", noise),
    ),
  );
  return h(
    "form",
    { class: "start", onsubmit: onSubmit },
    h("div", { class: "row" }, field("Who works it", agent), problem && rivalField),
    more,
    h("p", {}, button),
    error,
  );
}
