// The regions in which each class wins under the nearest-prototype rule, as exact polygons.
//
// The region of one point is the rectangle of the figure, cut by one half-plane for each other point: the side of the
// bisector that is closer to the point. Every edge of a polygon remembers which point is on its other side, so that the
// edges between two classes are the boundary.

// The polygon of points[row] among `rows`: a list of corners {x, y, beyond}, where `beyond` is the row on the other
// side of the edge from this corner to the next, or -1 at the border of the figure.
function regionOf(points, rows, row, { width, height }) {
  const p = points[row];
  let polygon = [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => ({ x, y, beyond: -1 }));
  for (const other of rows) {
    const q = points[other];
    if (other === row) continue;
    if (q.x === p.x && q.y === p.y) {
      if (other < row) return []; // the lower row wins everywhere
      continue;
    }
    polygon = clipped(polygon, p, q, other);
  }
  return polygon;
}

// The part of a polygon that is closer to p than to q.
function clipped(polygon, p, q, beyond) {
  const nx = q.x - p.x, ny = q.y - p.y, offset = (nx * (p.x + q.x) + ny * (p.y + q.y)) / 2;
  const sides = polygon.map(({ x, y }) => nx * x + ny * y - offset); // above 0 where q is closer
  if (sides.every((side) => side <= 0)) return polygon;
  const kept = [];
  polygon.forEach((corner, t) => {
    const after = (t + 1) % polygon.length;
    if (sides[t] <= 0) kept.push(corner);
    if (sides[t] <= 0 !== sides[after] <= 0) {
      const share = sides[t] / (sides[t] - sides[after]), next = polygon[after];
      const x = corner.x + share * (next.x - corner.x), y = corner.y + share * (next.y - corner.y);
      kept.push({ x, y, beyond: sides[t] <= 0 ? beyond : corner.beyond });
    }
  });
  return kept;
}

// All regions, and the segments [from, to] between regions of different classes, each once.
function partition(points, rows, size) {
  const regions = rows.map((row) => ({ row, polygon: regionOf(points, rows, row, size) }));
  const boundary = regions.flatMap(({ row, polygon }) =>
    polygon.flatMap((corner, t) => {
      const apart = corner.beyond > row && points[corner.beyond].label !== points[row].label;
      return apart ? [[corner, polygon[(t + 1) % polygon.length]]] : [];
    }),
  );
  return { regions, boundary };
}
