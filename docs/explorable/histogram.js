// How similar all pairs of a class are, and how similar neighbors are, with the threshold between them.

const BINS = 50;

function binOf(s) {
  return Math.min(BINS - 1, Math.floor(s * BINS));
}

// For each bin the number of all pairs, of neighbors, and of neighbors that are cut.
function binned({ prototypes }) {
  const bins = Array.from({ length: BINS }, () => ({ pairs: 0, neighbors: 0, cut: 0 }));
  for (const { objects, neighbors, threshold } of prototypes) {
    objects.forEach((a, i) => objects.slice(0, i).forEach((b) => (bins[binOf(similarity(a, b))].pairs += 1)));
    for (const { s } of neighbors.flat()) {
      bins[binOf(s)].neighbors += 1;
      if (threshold !== null && s < threshold) bins[binOf(s)].cut += 1;
    }
  }
  return bins;
}

function drawHistogram(canvas, model) {
  const { context, width, height } = prepared(canvas), colors = colorsOf(canvas), bottom = height - 16;
  const bins = binned(model), step = width / BINS;
  const scaleOf = (name) => (bottom - 8) / Math.max(1, ...bins.map((bin) => bin[name]));
  const bar = (t, value, color) => {
    context.fillStyle = color;
    context.fillRect(t * step, bottom - value, Math.max(step - 1, 1), value);
  };
  const [ofPairs, ofNeighbors] = [scaleOf("pairs"), scaleOf("neighbors")];
  bins.forEach(({ pairs, neighbors, cut }, t) => {
    bar(t, pairs * ofPairs, colors.line);
    context.globalAlpha = 0.75;
    bar(t, neighbors * ofNeighbors, colors.pale);
    bar(t, cut * ofNeighbors, colors.cut);
    context.globalAlpha = 1;
  });
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.strokeRect(0, bottom, width, 0);
  for (const { label, threshold } of model.prototypes) {
    if (threshold === null) continue;
    context.fillStyle = colors.classes[label];
    context.fillRect(threshold * width - 1, 0, 2, bottom);
  }
  context.fillStyle = colors.pale;
  context.font = "11px system-ui, sans-serif";
  [["left", 0, "0"], ["center", width / 2, "similarity"], ["right", width, "1"]].forEach(([align, x, text]) => {
    context.textAlign = align;
    context.fillText(text, x, height - 3);
  });
}
