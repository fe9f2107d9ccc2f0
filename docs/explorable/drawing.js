// The figure. A scene says how strongly each layer is drawn, so that one step can fade into the next.

const SCENES = {
  1: { edges: 0, weak: 0, cut: 0, reverse: 0, picks: 0, regions: 0 },
  2: { edges: 1, weak: 1, cut: 0, reverse: 0, picks: 0, regions: 0 },
  3: { edges: 0.8, weak: 1, cut: 1, reverse: 0, picks: 0, regions: 0 },
  4: { edges: 0.35, weak: 0, cut: 1, reverse: 1, picks: 1, regions: 0 },
  5: { edges: 0, weak: 0, cut: 1, reverse: 1, picks: 1, regions: 1 },
};

// The colors of the style sheet, which differ between a light and a dark page.
function colorsOf(element) {
  const style = getComputedStyle(element), color = (name) => style.getPropertyValue(`--${name}`).trim();
  const classes = CLASSES.map((_, label) => color(`class-${label}`));
  const [ink, pale, line, field, cut] = ["ink", "pale", "line", "field", "cut"].map(color);
  return { classes, ink, pale, line, field, cut };
}

// Make the canvas as fine as the screen, and return its context in CSS pixels.
function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
  const fine = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== fine[0] || canvas.height !== fine[1]) [canvas.width, canvas.height] = fine;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

function drawFigure(canvas, model, scene, { shown, followed, pointing, query, step }) {
  const { context, width } = prepared(canvas);
  if (!width || !model.points.length) return;
  const scale = width / FIELD.width;
  const pen = { context, scale, radius: Math.min(Math.max(scale * 0.085, 3), 5.5), colors: colorsOf(canvas), model };
  const progress = progressOf(model, step === 5 ? model.sequence.length : shown);
  if (scene.regions > 0.01) drawRegions(pen, scene.regions);
  for (const prototype of model.prototypes) drawEdges(pen, prototype, scene);
  const halos = scene.picks * (1 - scene.regions);
  if (halos > 0.01) drawHalos(pen, progress, halos);
  if (scene.picks > 0.01) drawCoverage(pen, progress, scene);
  drawPoints(pen, scene, progress);
  if (scene.picks > 0.01) drawPicks(pen, scene, progress);
  if (followed !== null && (step < 4 || (step === 4 && pointing))) drawFollowed(pen, scene, followed);
  if (step === 5 && query) drawQuery(pen, query);
}

function withAlpha({ context }, alpha, draw) {
  context.save();
  context.globalAlpha = alpha;
  draw(context);
  context.restore();
}

// Add a polygon to the path. Its corners are numbers of `scale` from (x, y).
function tracePolygon(context, corners, scale, x = 0, y = 0) {
  corners.forEach((corner, t) => {
    const place = [x + corner.x * scale, y + corner.y * scale];
    if (t) context.lineTo(...place);
    else context.moveTo(...place);
  });
  context.closePath();
}

function strokeSegments({ context, scale }, segments) {
  context.beginPath();
  for (const [a, b] of segments) {
    context.moveTo(a.x * scale, a.y * scale);
    context.lineTo(b.x * scale, b.y * scale);
  }
  context.stroke();
}

function drawRegions(pen, alpha) {
  const { model, colors } = pen, { regions, boundary } = model.rule();
  for (const { label } of model.prototypes) {
    withAlpha(pen, 0.2 * alpha, (context) => {
      context.fillStyle = colors.classes[label];
      context.beginPath(); // one path for a class, so that no seam shows between its regions
      const own = regions.filter(({ row }) => model.points[row].label === label);
      for (const { polygon } of own) tracePolygon(context, polygon, pen.scale);
      context.fill();
    });
  }
  withAlpha(pen, 0.75 * alpha, (context) => {
    context.lineWidth = 1;
    context.strokeStyle = colors.pale;
    strokeSegments(pen, model.ruleOfAll().boundary);
  });
  withAlpha(pen, alpha, (context) => {
    context.lineWidth = 2.4;
    context.lineCap = "round";
    context.strokeStyle = colors.ink;
    strokeSegments(pen, boundary);
  });
}

function drawEdges(pen, prototype, scene) {
  const { colors } = pen, color = colors.classes[prototype.label];
  const isWeak = (edge) => prototype.threshold !== null && edge.s < prototype.threshold;
  const ends = prototype.neighbors.flatMap((list, x) =>
    list.map((edge) => ({ from: prototype.objects[x], to: prototype.objects[edge.to], weak: isWeak(edge) })),
  );
  const [weak, strong] = [ends.filter((edge) => edge.weak), ends.filter((edge) => !edge.weak)];
  const dense = Math.min(1, 5.5 / Math.sqrt(ends.length / prototype.objects.length + 1) / 2.2);
  drawArrows(pen, strong, { color, alpha: 0.5 * dense * scene.edges, reverse: scene.reverse });
  drawArrows(pen, weak, { color, alpha: 0.5 * dense * scene.weak * (1 - scene.cut), reverse: 0 });
  drawArrows(pen, weak, { color: colors.cut, alpha: 0.75 * scene.weak * scene.cut, reverse: 0, dashes: [3, 4] });
}

// Arrows from point to point. With `reverse` at 1 their heads are at the other end.
function drawArrows(pen, edges, { color, alpha, reverse, dashes = [], width = 1 }) {
  if (alpha < 0.01 || !edges.length) return;
  const { context, radius, scale } = pen;
  const heads = [[1 - reverse, (edge) => [edge.from, edge.to]], [reverse, (edge) => [edge.to, edge.from]]];
  withAlpha(pen, alpha, () => {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.setLineDash(dashes);
    strokeSegments(pen, edges.map(({ from, to }) => [from, to]));
  });
  for (const [share, direction] of heads) {
    withAlpha(pen, Math.min(1, alpha * 1.6) * share, () => {
      context.fillStyle = color;
      context.beginPath();
      for (const edge of edges) traceHead(context, ...direction(edge), scale, radius, 3.2 + 1.6 * width);
      if (share > 0) context.fill();
    });
  }
}

// The head of an arrow that ends at the rim of the point `to`.
function traceHead(context, from, to, scale, radius, size) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy);
  if (length * scale < radius + size) return;
  const ux = dx / length, uy = dy / length, x = to.x * scale - ux * radius, y = to.y * scale - uy * radius;
  context.moveTo(x, y);
  context.lineTo(x - size * ux - 0.45 * size * uy, y - size * uy + 0.45 * size * ux);
  context.lineTo(x - size * ux + 0.45 * size * uy, y - size * uy - 0.45 * size * ux);
  context.closePath();
}

// Around each point of the class whose turn it is, an area in proportion to the gain that it has now. A dashed ring
// marks the largest, which is picked next.
function drawHalos(pen, { next }, alpha) {
  if (!next) return;
  const { scale, radius, colors } = pen, { prototype, pick } = next, color = colors.classes[prototype.label];
  prototype.objects.forEach(({ x, y }, object) => {
    withAlpha(pen, 0.2 * alpha, (context) => {
      context.beginPath();
      context.arc(x * scale, y * scale, 1.35 * radius * Math.sqrt(pick.before[object]), 0, 2 * Math.PI);
      context.fillStyle = color;
      context.fill();
      if (object !== pick.object) return;
      context.globalAlpha = alpha;
      context.setLineDash([3, 3]);
      context.lineWidth = 1.6;
      context.strokeStyle = color;
      context.stroke();
    });
  });
}

// Lines from each representative to what it covers. Those of the last pick are the strongest.
function drawCoverage(pen, { coveredBy, last }, scene) {
  const { model, colors } = pen, { points } = model;
  for (const { prototype, row } of model.sequence) {
    const covered = [...coveredBy].filter(([member, by]) => by === row && member !== row);
    const lines = covered.map(([member]) => ({ from: points[row], to: points[member] }));
    const isLast = last && last.row === row && scene.regions < 0.5;
    const alpha = scene.picks * (isLast ? 0.95 : 0.4 - 0.2 * scene.regions);
    drawArrows(pen, lines, { color: colors.classes[prototype.label], alpha, reverse: 0, width: isLast ? 1.8 : 1 });
  }
}

const CORNERS = {
  1: [{ x: -0.88, y: -0.88 }, { x: 0.88, y: -0.88 }, { x: 0.88, y: 0.88 }, { x: -0.88, y: 0.88 }],
  2: [{ x: 0, y: -1.35 }, { x: 1.2, y: 0.8 }, { x: -1.2, y: 0.8 }],
  3: [{ x: 0, y: -1.3 }, { x: 1.1, y: 0 }, { x: 0, y: 1.3 }, { x: -1.1, y: 0 }],
};

// The shape of a class: circle, square, triangle or diamond, of about the same area.
function traceShape(context, label, x, y, r) {
  context.beginPath();
  if (label === 0) context.arc(x, y, r, 0, 2 * Math.PI);
  else tracePolygon(context, CORNERS[label], r, x, y);
}

// Covered points are pale. A point without an edge is a ring once edges are cut.
function drawPoints(pen, scene, { coveredBy }) {
  const { model, scale, radius, colors } = pen;
  model.points.forEach(({ x, y, label }, row) => {
    const { prototype, object } = model.places[row];
    const alone = scene.cut > 0.5 && prototype.edges[object].length === 0;
    const covered = scene.picks * (1 - scene.regions) * (coveredBy.has(row) ? 1 : 0);
    withAlpha(pen, 1 - 0.6 * covered, (context) => {
      traceShape(context, label, x * scale, y * scale, radius * (alone ? 1.15 : 1));
      context.fillStyle = alone ? colors.field : colors.classes[label];
      context.fill();
      context.strokeStyle = alone ? colors.classes[label] : colors.field;
      context.lineWidth = alone ? 2 : 1;
      context.stroke();
    });
    const copies = prototype.copies[object];
    if (copies > 1) drawNumber(pen, `×${copies}`, x * scale, y * scale - 2.6 * radius, colors.ink);
  });
}

function drawNumber({ context }, text, x, y, color, size = 11) {
  context.fillStyle = color;
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}

// Representatives are large and bear the number of their pick.
function drawPicks(pen, scene, { picked, last }) {
  const { model, scale, radius, colors } = pen, big = Math.max(radius * 1.95, 7.5);
  for (const { row, number } of model.sequence.slice(0, picked.size)) {
    const { x, y, label } = model.points[row], isLast = last && last.row === row && scene.regions < 0.5;
    withAlpha(pen, scene.picks, (context) => {
      traceShape(context, label, x * scale, y * scale, big + (isLast ? 2 : 0));
      context.fillStyle = colors.classes[label];
      context.fill();
      context.lineWidth = isLast ? 3 : 2;
      context.strokeStyle = isLast ? colors.ink : colors.field;
      context.stroke();
      const down = label === 2 ? big * 0.15 : 0;
      drawNumber(pen, `${number}`, x * scale, y * scale + down, colors.field, Math.max(9.5, big));
    });
  }
}

// The point that the text speaks of: its neighbors, or, once the arrows are turned, what it covers.
function drawFollowed(pen, scene, row) {
  const { model, scale, radius, colors, context } = pen, point = model.points[row];
  const { prototype, object } = model.places[row];
  if (scene.reverse < 0.5) {
    const isWeak = ({ s }) => scene.cut > 0.5 && prototype.threshold !== null && s < prototype.threshold;
    const kept = { color: colors.ink, alpha: scene.edges, reverse: 0, width: 1.5 };
    const cut = { ...kept, color: colors.cut, alpha: scene.weak, dashes: [4, 4] };
    for (const edge of prototype.neighbors[object]) {
      drawArrows(pen, [{ from: point, to: prototype.objects[edge.to] }], isWeak(edge) ? cut : kept);
    }
  } else {
    const lines = pointingAt(model, row).map((other) => ({ from: point, to: model.points[other] }));
    drawArrows(pen, lines, { color: colors.ink, alpha: 0.8, reverse: 0, width: 1.4 });
  }
  context.beginPath();
  context.arc(point.x * scale, point.y * scale, radius + 5, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = colors.ink;
  context.stroke();
}

// A new object, and the representative that decides about it.
function drawQuery(pen, query) {
  const { model, scale, colors, context } = pen, by = model.points[nearest(model.points, model.chosen, query)];
  context.lineWidth = 2;
  context.strokeStyle = colors.classes[by.label];
  strokeSegments(pen, [[query, by]]);
  context.beginPath();
  context.arc(query.x * scale, query.y * scale, 6, 0, 2 * Math.PI);
  context.fillStyle = colors.field;
  context.fill();
  context.stroke();
}

// The sign of a class on its button.
function drawSign(canvas, label) {
  const { context, width, height } = prepared(canvas);
  traceShape(context, label, width / 2, height / 2, 5.5);
  context.fillStyle = colorsOf(canvas).classes[label];
  context.fill();
}
