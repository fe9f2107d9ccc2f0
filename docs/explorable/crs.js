// Cluster representatives selection (CRS) of points in the plane, by the rules of covey's Python code to the last bit.
//
// 1. Merge equal points of a class into one object, which counts as often as it was merged.
// 2. List the k most similar others of each object: similarity descending, then index ascending.
// 3. Cut the edges below the threshold, which may be the homogeneity: the mean similarity of all pairs of the class.
// 4. Pick the object with the largest gain until enough is covered. Of equal gains, the lowest index wins.
//
// A test runs random problems through this file and through covey, and compares all results by equality. This works
// because the coordinates on the page are multiples of 1/64: squares of differences have no rounding, and a root has
// the same rounding everywhere. Sums are made of whole numbers (BigInt), so that their order does not matter.

const ROUNDING = 1e-9; // the share by which a threshold lies below the mean, and the slack of coverage * n
const GAIN_BITS = 61; // how many bits the largest gain takes
const ROUNDED_BITS = 24n; // how many of the last bits of a gain are not compared
const MEAN_BITS = 80; // similarities above 2^-27 are whole numbers in units of 2^-80

function similarity(a, b) {
  const dx = a.x - b.x, dy = a.y - b.y;
  return 1 / (1 + Math.sqrt(dx * dx + dy * dy));
}

// Select representatives of each class. Points are {x, y, label}; the result has one prototype a label, in ascending
// order. A threshold is "homogeneity", a number, or null to keep every edge.
function select(points, { k, coverage, threshold }) {
  const labels = [...new Set(points.map((point) => point.label))].sort((a, b) => a - b);
  return labels.map((label) => {
    const members = points.flatMap((point, row) => (point.label === label ? [row] : []));
    const cluster = merged(points, members);
    const neighbors = neighborLists(cluster.objects, k);
    const homogeneity = meanSimilarity(cluster);
    const tau = threshold === "homogeneity" ? homogeneity && homogeneity - ROUNDING * homogeneity : threshold;
    const edges = neighbors.map((list) => list.filter((edge) => tau === null || edge.s >= tau));
    const graph = { neighbors, homogeneity, threshold: tau, edges };
    return { label, members, ...cluster, ...graph, ...pick(cluster, edges, coverage) };
  });
}

// Distinct objects of a class: the first row that holds each, which object each member is, and how often each occurs.
function merged(points, members) {
  const places = new Map(), rows = [], copies = [];
  const kinds = members.map((row) => {
    const key = `${points[row].x},${points[row].y}`;
    if (!places.has(key)) {
      places.set(key, rows.length);
      rows.push(row);
      copies.push(0);
    }
    copies[places.get(key)] += 1;
    return places.get(key);
  });
  return { rows, kinds, copies, objects: rows.map((row) => points[row]) };
}

function neighborLists(objects, k) {
  return objects.map((object, x) => {
    const others = objects.flatMap((other, to) => (to === x ? [] : [{ to, s: similarity(object, other) }]));
    return others.sort((a, b) => b.s - a.s || a.to - b.to).slice(0, k);
  });
}

// The homogeneity; null for a single member, which has no pairs. Copies of one object have the similarity 1.
function meanSimilarity({ objects, copies, kinds }) {
  const n = kinds.length;
  if (n < 2) return null;
  const units = (value) => BigInt(value * 2 ** MEAN_BITS);
  let total = 0n;
  for (let i = 0; i < objects.length; i++) {
    total += units((copies[i] * (copies[i] - 1)) / 2);
    for (let j = 0; j < i; j++) total += units(similarity(objects[i], objects[j]) * (copies[i] * copies[j]));
  }
  return quotient(total, BigInt((n * (n - 1)) / 2)) / 2 ** MEAN_BITS;
}

// The float next to a / b. 64 more bits show on which side of the middle of two floats it lies, because b has fewer.
function quotient(a, b) {
  return Number((a << 64n) / b) / 2 ** 64;
}

// Pick greedily. Each pick tells its gain, whom it newly covers, and the gains of all objects before it.
function pick({ copies, kinds, rows }, edges, coverage) {
  const coverers = edges.flatMap((list, x) => list.map(({ to, s }) => ({ x, to, weight: s * copies[x] })));
  const unit = unitFor(coverers, copies);
  const own = copies.map((count) => roundHalfEven(count * unit));
  const gains = [...own];
  const covers = edges.map((_, r) => [{ x: r, weight: own[r] }]); // the reverse graph; each object covers itself first
  for (const { x, to, weight } of coverers) {
    const edge = { x, weight: roundHalfEven(weight * unit) };
    covers[to].push(edge);
    gains[to] += edge.weight;
  }
  const weightsOf = edges.map(() => []); // for each object, what it adds to whose gain while it is uncovered
  covers.forEach((list, r) => list.forEach(({ x, weight }) => weightsOf[x].push({ r, weight })));
  const required = Math.max(1, Math.ceil(coverage * kinds.length - ROUNDING));
  const coveredBy = edges.map(() => -1), picks = [];
  let covered = 0;
  while (covered < required) {
    const keys = gains.map(comparisonKey);
    const best = keys.reduce((top, key, r) => (key > keys[top] ? r : top), 0);
    const before = gains.map((gain) => Number(gain) / unit), newly = [];
    for (const { x } of covers[best]) {
      if (coveredBy[x] >= 0) continue;
      coveredBy[x] = best;
      newly.push(x);
      covered += copies[x];
      for (const { r, weight } of weightsOf[x]) gains[r] -= weight;
    }
    picks.push({ object: best, gain: before[best], newly, before, covered });
  }
  for (const { object } of picks) coveredBy[object] = object;
  return {
    picks,
    required,
    indices: picks.map(({ object }) => rows[object]),
    gains: picks.map(({ gain }) => gain),
    coveredBy: kinds.map((kind) => (coveredBy[kind] < 0 ? -1 : rows[coveredBy[kind]])),
    coverage: covered / kinds.length,
    nOrphans: edges.filter((list, x) => list.length === 0 && copies[x] === 1).length,
  };
}

// How many units a gain of 1 has: a power of 2, so that the largest gain just fits. It is scaled down by 2^64 first, as
// in Python, so that a logarithm next to a whole number has the same rounding.
function unitFor(coverers, copies) {
  const sums = copies.map(() => 0);
  for (const { to, weight } of coverers) sums[to] += weight;
  const largest = Math.max(...sums.map((sum, r) => copies[r] + sum)) * 2 ** -64;
  return 2 ** (GAIN_BITS - 64 - Math.ceil(Math.log2(largest)));
}

function roundHalfEven(value) {
  const floor = Math.floor(value), rest = value - floor;
  return BigInt(rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor);
}

// What is compared of a gain: it leaves out the bits that hold nothing but the rounding of similarities.
function comparisonKey(gain) {
  return gain === 0n ? 0n : 1n + ((gain + (1n << (ROUNDED_BITS - 1n))) >> ROUNDED_BITS);
}

// The row among `rows`, which ascend, that is most similar to a point. Of equally similar ones, the lowest row wins.
function nearest(points, rows, point) {
  let best = rows[0], most = -1;
  for (const row of rows) {
    const s = similarity(points[row], point);
    if (s > most) [best, most] = [row, s];
  }
  return best;
}
