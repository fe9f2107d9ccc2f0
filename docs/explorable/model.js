// What the page shows, computed from the points and the settings. Nothing here draws.

const CLASSES = ["Blue", "Orange", "Green", "Purple"];

function modelOf(points, settings) {
  const threshold = { homogeneity: "homogeneity", number: settings.tau, none: null }[settings.mode];
  const prototypes = select(points, { k: settings.k, coverage: settings.coverage, threshold });
  const places = []; // for each point, its prototype and its number among the distinct objects
  for (const prototype of prototypes) {
    prototype.members.forEach((row, t) => (places[row] = { prototype, object: prototype.kinds[t] }));
  }
  const sequence = prototypes.flatMap((prototype) =>
    prototype.picks.map((pick, t) => ({ prototype, pick, row: prototype.rows[pick.object], number: t + 1 })),
  );
  const chosen = sequence.map(({ row }) => row).sort((a, b) => a - b);
  return {
    points,
    prototypes,
    places,
    sequence,
    chosen,
    agreement: agreementOf(points, chosen),
    rule: once(() => partition(points, chosen, FIELD)),
    ruleOfAll: once(() => partition(points, points.map((_, row) => row), FIELD)),
  };
}

// The share of the points that get their own class from the representatives.
function agreementOf(points, chosen) {
  return points.filter((point) => points[nearest(points, chosen, point)].label === point.label).length / points.length;
}

// A function that computes its value when it is first asked for it.
function once(compute) {
  let value;
  return () => (value ??= compute());
}

// Which rows are covered and which are picked after the first `shown` picks.
function progressOf(model, shown) {
  const picked = new Set(), coveredBy = new Map();
  for (const { prototype, pick, row } of model.sequence.slice(0, shown)) {
    picked.add(row);
    const newly = new Set(pick.newly);
    prototype.members.forEach((member, t) => {
      if (newly.has(prototype.kinds[t])) coveredBy.set(member, row);
    });
  }
  return { picked, coveredBy, last: model.sequence[shown - 1], next: model.sequence[shown] };
}

// The row whose farthest neighbor is farthest of all: it shows best what the cut is for. It is null without points.
function strayOf({ prototypes }) {
  const all = prototypes.flatMap(({ rows, neighbors }) =>
    neighbors.map((list, x) => ({ row: rows[x], s: list.at(-1)?.s ?? 0 })),
  );
  return all.reduce((least, one) => (least === null || one.s < least.s ? one : least), null)?.row ?? null;
}

function meanThreshold({ points, prototypes }) {
  return prototypes.reduce((sum, { threshold, members }) => sum + (threshold ?? 1) * members.length, 0) / points.length;
}

// The rows that have a row among their neighbors after the cut: those that it covers by an edge.
function pointingAt(model, row) {
  const { prototype, object } = model.places[row];
  return prototype.rows.filter((_, x) => prototype.edges[x].some(({ to }) => to === object));
}

function countOf(lists) {
  return lists.reduce((sum, list) => sum + list.length, 0);
}
