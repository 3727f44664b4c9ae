/** A session as a comparison needs it: from its record, or while it goes on. */

import { follow, get, path, poll } from "../api.js";

const INTERVAL_MS = 1000;

export class Run {
  /**
   * @param {string} source "record:NAME" or "session:ID"
   * @param {AbortSignal} signal
   */
  constructor(source, signal) {
    [this.kind, this.name] = [source.slice(0, source.indexOf(":")), source.slice(source.indexOf(":") + 1)];
    this.signal = signal;
    this.record = { steps: [], problem_id: "", agent: "", results: {} };
    this.state = "preparing";
    this.error = "";
  }

  /** Load what there is, and call `onChange` then and whenever more comes. */
  async load(onChange) {
    if (this.kind === "record") {
      this.record = await get(path("records", this.name), {}, this.signal);
      this.state = "ended";
      onChange();
      return;
    }
    const waiting = new AbortController();
    this.signal.addEventListener("abort", () => waiting.abort());
    poll(
      async () => {
        const session = await get(path("sessions", this.name), {}, this.signal);
        Object.assign(this, { state: session.state, error: session.error || "" });
        this.record = {
          ...this.record,
          agent: session.agent || "a person",
          problem_id: session.problem || "",
        };
        if (session.state !== "preparing") {
          waiting.abort();
          await this.followSession(session, onChange);
        }
        onChange();
      },
      INTERVAL_MS,
      waiting.signal,
      (problem) => {
        this.error = problem.message;
        onChange();
      },
    );
  }

  /** Take over the steps so far, then those that events report. */
  async followSession(session, onChange) {
    this.record = {
      ...this.record,
      ...(await get(`${path("sessions", this.name)}/record`, {}, this.signal)),
    };
    if (session.state === "ended") return;
    const add = (step) => {
      if (this.record.steps.every((known) => known.number !== step.number)) this.record.steps.push(step);
      onChange();
    };
    const end = async () => {
      source.close();
      this.record = await get(`${path("sessions", this.name)}/record`, {}, this.signal);
      this.state = "ended";
      onChange();
    };
    const source = follow(this.name, { step: add, ended: end }, this.signal);
  }
}
