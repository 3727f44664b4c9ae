/** The HTTP API of the server, and its events. */

/** A request that failed; the message is the server's sentence. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Send a request and return the JSON of its answer; raises ApiError. */
async function send(method, path, body, signal) {
  const options = { method, signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer. Is 'aiopslab serve' still running?");
  }
  const text = await answer.text();
  let content = null;
  try {
    content = text ? JSON.parse(text) : null;
  } catch {
    content = null;
  }
  if (!answer.ok) {
    throw new ApiError(
      answer.status,
      content?.error || content?.detail || `${answer.status} ${answer.statusText}`,
    );
  }
  return content;
}

/** Return the path of an API resource; each part is escaped. */
export function path(...parts) {
  return `/api/${parts.map(encodeURIComponent).join("/")}`;
}

/** Get a resource. Parameters that are empty are left out. */
export function get(url, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== "" && value !== null && value !== undefined,
  );
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return send("GET", query ? `${url}?${query}` : url, undefined, signal);
}

/** Post a JSON document. */
export function post(url, body, signal = undefined) {
  return send("POST", url, body, signal);
}

/** Delete a resource. */
export function remove(url) {
  return send("DELETE", url);
}

/**
 * Follow the events of a session until the signal.
 * @param {string} id
 * @param {Object<string, function(any): void>} handlers by the name of the event
 * @param {AbortSignal} signal
 */
export function follow(id, handlers, signal) {
  const source = new EventSource(`${path("sessions", id)}/events`);
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  signal.addEventListener("abort", () => source.close());
  return source;
}

/** Call a function now and then every few seconds while the page is visible, until the signal; errors go to onError. */
export function poll(work, intervalMs, signal, onError = () => {}) {
  let timer = 0;
  const turn = async () => {
    if (signal.aborted) return;
    try {
      if (!document.hidden) await work();
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    if (!signal.aborted) timer = setTimeout(turn, intervalMs);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  turn();
}
