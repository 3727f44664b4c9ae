/**
 * A small layered layout for call graphs: callers are left of what they call.
 *
 * Cycles are broken at the edge that closes them; services in a layer are ordered by the average place of their neighbours,
 * which avoids most crossings.
 */

const SWEEPS = 6;

/**
 * Place the nodes of a graph.
 * @param {string[]} names
 * @param {Array<{parent: string, child: string}>} edges
 * @returns {string[][]} the names in each layer, from the first callers on, each layer from top to bottom
 */
export function placeInLayers(names, edges) {
  const children = new Map(names.map((name) => [name, []]));
  const parents = new Map(names.map((name) => [name, []]));
  for (const { parent, child } of breakCycles(names, edges)) {
    children.get(parent).push(child);
    parents.get(child).push(parent);
  }
  const depth = findDepths(names, children, parents);
  const layers = [];
  for (const name of names) (layers[depth.get(name)] ||= []).push(name);
  for (let index = 0; index < layers.length; index += 1) layers[index] ||= [];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (let index = 1; index < layers.length; index += 1)
      sortByNeighbours(layers, index, index - 1, parents);
    for (let index = layers.length - 2; index >= 0; index -= 1)
      sortByNeighbours(layers, index, index + 1, children);
  }
  return layers;
}

/** Return the edges without those that close a cycle, and without calls of a service to itself. */
function breakCycles(names, edges) {
  const outgoing = new Map(names.map((name) => [name, []]));
  for (const edge of edges) if (edge.parent !== edge.child) outgoing.get(edge.parent).push(edge);
  const state = new Map();
  const kept = [];
  const visit = (name) => {
    state.set(name, "open");
    for (const edge of outgoing.get(name)) {
      if (state.get(edge.child) === "open") continue;
      kept.push(edge);
      if (!state.has(edge.child)) visit(edge.child);
    }
    state.set(name, "done");
  };
  const called = new Set(edges.map((edge) => edge.child));
  for (const name of [...names.filter((name) => !called.has(name)), ...names])
    if (!state.has(name)) visit(name);
  return kept;
}

/** Return the length of the longest path to each node. */
function findDepths(names, children, parents) {
  const depth = new Map(names.map((name) => [name, 0]));
  const missing = new Map(names.map((name) => [name, parents.get(name).length]));
  const ready = names.filter((name) => missing.get(name) === 0);
  while (ready.length > 0) {
    const name = ready.shift();
    for (const child of children.get(name)) {
      depth.set(child, Math.max(depth.get(child), depth.get(name) + 1));
      missing.set(child, missing.get(child) - 1);
      if (missing.get(child) === 0) ready.push(child);
    }
  }
  return depth;
}

/** Order a layer by the average place of each node's neighbours in another layer; nodes without any keep their place. */
function sortByNeighbours(layers, index, other, neighbours) {
  const place = new Map(
    layers[other].map((name, position) => [name, position / Math.max(1, layers[other].length)]),
  );
  const scores = new Map();
  layers[index].forEach((name, position) => {
    const found = neighbours.get(name).filter((neighbour) => place.has(neighbour));
    const own = position / Math.max(1, layers[index].length);
    const sum = found.reduce((total, neighbour) => total + place.get(neighbour), 0);
    scores.set(name, found.length ? sum / found.length : own);
  });
  layers[index].sort((a, b) => scores.get(a) - scores.get(b) || a.localeCompare(b));
}
