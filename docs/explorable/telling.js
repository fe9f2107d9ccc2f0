// What the page says about the figure, in words and numbers.

const percent = (share) => (Number.isNaN(share) ? "–" : `${Math.round(share * 1000) / 10} %`); // NaN is a share of none
const plural = (n, word, several = `${word}s`) => `${n} ${n === 1 ? word : several}`;
const nameOf = ({ label }) => CLASSES[label].toLowerCase();

// One or two sentences below the figure. They are plain text, which is also read aloud.
function captionOf(model, state) {
  if (!model.points.length) return "There is no point. Click into the figure to add one.";
  return { 1: tellPoints, 2: tellNeighbors, 3: tellCut, 4: tellPick, 5: tellRule }[state.step](model, state);
}

function tellPoints({ points, prototypes }) {
  const sizes = prototypes.map((prototype) => `${prototype.members.length} ${nameOf(prototype)}`).join(", ");
  const full = points.length >= MOST_POINTS ? " No more can be added." : "";
  return `${plural(points.length, "point")} in ${plural(prototypes.length, "class", "classes")}: ${sizes}.${full}`;
}

function tellNeighbors(model, { followed }) {
  const { prototype, object } = model.places[followed];
  const list = prototype.neighbors[object];
  const by = prototype.neighbors.filter((other) => other.some(({ to }) => to === object)).length;
  if (!list.length) return "The chosen point is alone in its class and has no neighbor.";
  const from = list[0].s.toFixed(2), to = list[list.length - 1].s.toFixed(2);
  const range = from === to ? from : `${from} to ${to}`;
  return `The chosen point has ${plural(list.length, "neighbor")} of similarity ${range}, and is a neighbor of `
    + `${plural(by, "point")} itself.`;
}

function tellCut({ prototypes }) {
  const all = countOf(prototypes.map(({ neighbors }) => neighbors.flat()));
  const kept = countOf(prototypes.map(({ edges }) => edges.flat()));
  const orphans = prototypes.reduce((sum, { nOrphans }) => sum + nOrphans, 0);
  const alone = orphans ? `${plural(orphans, "point has", "points have")} no edge left.` : "Every point keeps an edge.";
  return `${all - kept} of ${plural(all, "edge")} ${all - kept === 1 ? "is" : "are"} cut. ${alone}`;
}

function tellPick(model, { shown, followed, pointing }) {
  const { last, next } = progressOf(model, shown);
  if (pointing && model.places[followed].prototype === next?.prototype) return tellCandidate(model, followed, next);
  if (!last) return "Nothing is picked yet. The largest halo is picked first.";
  const { prototype, pick, number } = last, n = prototype.members.length;
  const count = pick.newly.reduce((sum, object) => sum + prototype.copies[object], 0);
  return `Pick ${number} of ${nameOf(prototype)} has a gain of ${pick.gain.toFixed(2)}. It newly covers `
    + `${plural(count, "point")}, which makes ${percent(pick.covered / n)} of the class.`;
}

function tellCandidate(model, row, { pick }) {
  const gain = pick.before[model.places[row].object].toFixed(2);
  return `Point ${row} covers itself and ${plural(pointingAt(model, row).length, "other")}. Its gain is now ${gain}; `
    + `the largest is ${pick.gain.toFixed(2)}.`;
}

function tellRule(model, { query }) {
  const { points, chosen } = model;
  const few = `${chosen.length} of ${plural(points.length, "point")} decide.`;
  if (!query) return `${few} Point at a spot to ask for its class.`;
  const by = nearest(points, chosen, query), others = chosen.filter((row) => points[row].label !== points[by].label);
  const s = similarity(points[by], query).toFixed(2);
  const told = `An object here is ${nameOf(points[by])}: similarity ${s} to its representative`;
  if (!others.length) return `${told}.`;
  const second = points[nearest(points, others, query)];
  return `${told}, against ${similarity(second, query).toFixed(2)} to the best of ${nameOf(second)}.`;
}

// The threshold, or from the least to the largest of several classes.
function thresholdText({ prototypes }) {
  const known = prototypes.flatMap(({ threshold }) => (threshold === null ? [] : [threshold.toFixed(2)])).sort();
  if (!known.length) return "–";
  return known[0] === known.at(-1) ? known[0] : `${known[0]}–${known.at(-1)}`;
}

function histogramText({ prototypes }) {
  const cutting = prototypes.filter(({ threshold }) => threshold !== null);
  const lines = cutting.map(({ label, threshold }) => `${CLASSES[label]} ${threshold.toFixed(3)}`);
  return "Faint: all pairs of a class. Strong: neighbors. Each has its own scale. "
    + (lines.length ? `Vertical lines: the threshold (${lines.join(", ")}).` : "No threshold cuts an edge.");
}

function resultsOf({ points, prototypes, chosen, agreement }) {
  const covered = prototypes.reduce((sum, { coveredBy }) => sum + coveredBy.filter((row) => row >= 0).length, 0);
  const orphans = prototypes.reduce((sum, { nOrphans }) => sum + nOrphans, 0);
  return [
    ["representatives", `${chosen.length} of ${points.length}`],
    ["of the points are covered", percent(covered / points.length)],
    ["of the points get their own class", percent(agreement)],
    ["without an edge after the cut", `${orphans}`],
  ];
}

// The items of a Python list, this many in a line.
function inLines(items, perLine) {
  const lines = items.flatMap((_, t) => (t % perLine ? [] : [items.slice(t, t + perLine).join(", ")]));
  return lines.map((line) => `    ${line},`).join("\n");
}

function pythonCode({ points, chosen }, settings) {
  if (!points.length) return "# There is no point to select from.";
  const threshold = { homogeneity: '"homogeneity"', number: `${settings.tau}`, none: "None" }[settings.mode];
  const rows = inLines(points.map(({ x, y }) => `[${x}, ${y}]`), 2);
  const labels = inLines(points.map(({ label }) => `${label}`), 12);
  return `import covey

X = [
${rows}
]
y = [
${labels}
]

selector = covey.CRS(
    n_neighbors=${settings.k},
    coverage=${settings.coverage},
    threshold=${threshold},
    similarity="euclidean",
).fit(X, y)
print(selector.sample_indices_)  # ${plural(chosen.length, "representative")}
`;
}
