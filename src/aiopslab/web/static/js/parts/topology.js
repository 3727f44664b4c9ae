/** The services and the calls between them, with their traffic, errors and latency, as a picture and as a table. */

import { h, replace, svg, table } from "../dom.js";
import { duration, level, number, percent } from "../format.js";
import { placeInLayers } from "./layout.js";

const USERS = "(users)"; // no service can have this name
const BOX = { width: 150, height: 46 };
const GAP = { x: 70, y: 14 };
const MARGIN = 10;

/** A picture of the topology that keeps its layout while only the traffic changes. */
export class TopologyView {
  /** @param {function(string): void} onService called when a service is chosen */
  constructor(onService) {
    this.onService = onService;
    this.picture = h("div", { class: "topology" });
    this.asTable = h("details", {}, h("summary", {}, "The same as a table"));
    this.node = h("div", {}, this.picture, this.asTable);
    this.shape = "";
    this.layers = [];
    this.services = new Map();
    this.calls = new Map();
  }

  /** Draw a document of the view "topology"; services and calls that were seen before and are quiet now stay. */
  update(recent) {
    const found = this.keepQuiet(recent);
    const edges = [...this.findDoors(found), ...found.calls];
    const own = new Map(found.services.map((service) => [service.service, service]));
    const names = [USERS, ...own.keys()];
    const shape = JSON.stringify([names, edges.map((edge) => [edge.parent, edge.child])]);
    if (shape !== this.shape) {
      this.layers = placeInLayers(names, edges);
      this.shape = shape;
    }
    own.set(USERS, found.users);
    const places = findPlaces(this.layers);
    const width = Math.max(...[...places.values()].map((place) => place.x)) + BOX.width + MARGIN;
    const height = Math.max(...[...places.values()].map((place) => place.y)) + BOX.height + MARGIN;
    const failing = found.services
      .filter((service) => service.error_share >= 0.05)
      .map((service) => service.service);
    const summary = `${found.services.length} services; ${failing.length ? `failing: ${failing.join(", ")}` : "none failing"}`;
    const focused = document.activeElement?.getAttribute("data-service");
    replace(
      this.picture,
      svg(
        "svg",
        {
          viewBox: `0 0 ${width} ${height}`,
          width,
          height,
          role: "group",
          "aria-label": `Topology: ${summary}`,
        },
        edges.map((edge) => this.drawEdge(edge, places)),
        names.map((name) => this.drawService(name, own.get(name), places.get(name))),
      ),
    );
    if (focused) this.picture.querySelector(`[data-service="${CSS.escape(focused)}"]`)?.focus();
    if (this.asTable.open || this.asTable.childElementCount === 1) this.drawTable(found);
  }

  /** Add what was seen earlier and is missing now, without traffic: a service that is down must not disappear. */
  keepQuiet(recent) {
    const services = keepRows(this.services, recent.services, (row) => row.service);
    const calls = keepRows(this.calls, recent.calls, (row) => `${row.parent} ${row.child}`);
    return { ...recent, services, calls };
  }

  /** Return the edges from the users to the services that nobody else calls. */
  findDoors(found) {
    const called = new Set(found.calls.map((call) => call.child));
    return found.services
      .filter((service) => !called.has(service.service))
      .map((service) => ({ ...service, parent: USERS, child: service.service }));
  }

  drawEdge(edge, places) {
    const from = places.get(edge.parent);
    const to = places.get(edge.child);
    const start = [from.x + BOX.width, from.y + BOX.height / 2];
    const end = [to.x, to.y + BOX.height / 2];
    const bend = Math.max(30, (end[0] - start[0]) / 2);
    const line = `M${start} C${start[0] + bend},${start[1]} ${end[0] - bend},${end[1]} ${end}`;
    const weight = Math.min(5, 1 + Math.log2(1 + edge.rate));
    const text = `${edge.parent} calls ${edge.child}: ${number(edge.rate)}/s, ${percent(edge.error_share, 1)} failed, p99 ${duration(edge.p99_s)}`;
    return svg(
      "g",
      { class: `edge ${edge.isQuiet ? "quiet" : level(edge.error_share)}` },
      svg("path", { d: line, "stroke-width": weight, class: "pipe" }),
      svg("path", { d: line, "stroke-width": weight, class: edge.rate > 0 ? "flow" : "idle" }),
      svg("title", {}, text),
    );
  }

  drawService(name, figures, place) {
    const isUsers = name === USERS;
    const detail = describe(figures, isUsers);
    const choose = () => this.onService(name);
    const onKey = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    };
    const attributes = isUsers
      ? { class: `service users ${level(figures.error_share)}` }
      : {
          class: `service ${figures.isQuiet ? "quiet" : level(figures.error_share)}`,
          role: "button",
          tabindex: "0",
          "data-service": name,
          "aria-label": `${name}: ${detail}. Show its logs and traces.`,
          onclick: choose,
          onkeydown: onKey,
        };
    const short = isUsers ? "users" : name.length > 21 ? `${name.slice(0, 20)}…` : name;
    return svg(
      "g",
      { ...attributes, transform: `translate(${place.x},${place.y})` },
      svg("title", {}, `${name}: ${detail}`),
      svg("rect", { width: BOX.width, height: BOX.height, rx: 6 }),
      svg("text", { x: 10, y: 19, class: "name" }, short),
      svg("text", { x: 10, y: 36, class: "detail" }, detail),
    );
  }

  drawTable(found) {
    const rows = found.calls.map((call) => [
      call.parent,
      call.child,
      number(call.rate),
      percent(call.error_share, 1),
      duration(call.p50_s),
      duration(call.p99_s),
    ]);
    const header = ["caller", "called", "calls/s", "failed", "p50", "p99"];
    replace(
      this.asTable,
      h("summary", {}, "The same as a table"),
      table("Calls between services", header, rows),
    );
  }
}

/** Return the rows with the known ones that are missing, quiet; all become known. */
function keepRows(known, rows, key) {
  const missing = new Map(known);
  for (const row of rows) {
    missing.delete(key(row));
    known.set(key(row), { ...row, rate: 0, error_share: 0, p99_s: null, isQuiet: true });
  }
  return [...rows, ...missing.values()];
}

/** Describe the traffic of a service in a few words. */
function describe(figures, isUsers) {
  if (figures.isQuiet) return "no requests now";
  const traffic = `${number(figures.rate)}/s · ${percent(figures.error_share, 1)}`;
  return isUsers ? `${traffic} failed` : `${traffic} · ${duration(figures.p99_s)}`;
}

/** Return the place of each node; layers are centred vertically. */
function findPlaces(layers) {
  const tallest = Math.max(...layers.map((layer) => layer.length));
  const places = new Map();
  layers.forEach((layer, column) => {
    const top = MARGIN + ((tallest - layer.length) * (BOX.height + GAP.y)) / 2;
    layer.forEach((name, row) => {
      places.set(name, { x: MARGIN + column * (BOX.width + GAP.x), y: top + row * (BOX.height + GAP.y) });
    });
  });
  return places;
}
