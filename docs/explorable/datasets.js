// Data sets made by a seeded generator, so that a seed gives the same points everywhere.

const FIELD = { width: 12, height: 9 }; // the figure, in the units of the points
const GRID = 64; // coordinates are multiples of 1/64, which makes all squares exact
const MOST_POINTS = 200; // up to this number covey scores all pairs of a class for its homogeneity

function snapped(value, most) {
  return Math.round(Math.min(Math.max(value, 0.15), most - 0.15) * GRID) / GRID;
}

function pointAt(x, y, label) {
  return { x: snapped(x, FIELD.width), y: snapped(y, FIELD.height), label };
}

// Uniform numbers in [0, 1) by the generator "mulberry32", which uses whole numbers of 32 bits only.
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Each data set: its name, how many points it has, and how point t is made of uniform and of nearly normal numbers.
const DATASETS = {
  moons: {
    name: "Moons",
    n: 120,
    make(t, random, noise) {
      const label = t % 2, angle = Math.PI * random();
      const x = label ? 7.4 - 2.9 * Math.cos(angle) : 4.6 + 2.9 * Math.cos(angle);
      const y = label ? 3.9 + 3.2 * Math.sin(angle) : 5.1 - 3.2 * Math.sin(angle);
      const spread = t % 24 < 2 ? 1.3 : 0.36; // a few points stray
      return [x + spread * noise(), y + spread * noise(), label];
    },
  },
  blobs: {
    name: "Blobs",
    n: 120,
    make(t, random, noise) {
      const [x, y, spread] = [[3.4, 3.2, 1.0], [8.4, 3.0, 1.25], [6.0, 6.5, 0.8]][t % 3];
      return [x + spread * noise(), y + spread * noise(), t % 3];
    },
  },
  spirals: {
    name: "Spirals",
    n: 140,
    make(t, random, noise) {
      const label = t % 2, along = 0.12 + 0.88 * Math.sqrt(random()), angle = 3 * Math.PI * along + Math.PI * label;
      const x = 6 + 4.3 * along * Math.cos(angle), y = 4.5 + 4.1 * along * Math.sin(angle);
      return [x + 0.1 * noise(), y + 0.1 * noise(), label];
    },
  },
  ring: {
    name: "Ring",
    n: 130,
    make(t, random, noise) {
      if (t % 5 < 2) return [6 + 0.75 * noise(), 4.5 + 0.75 * noise(), 1];
      const angle = 2 * Math.PI * random();
      return [6 + 3.3 * Math.cos(angle) + 0.36 * noise(), 4.5 + 3.3 * Math.sin(angle) + 0.36 * noise(), 0];
    },
  },
  one: {
    name: "One class",
    n: 110,
    make(t, random, noise) {
      if (t % 16 === 0) return [12 * random(), 9 * random(), 0]; // a few that belong nowhere
      const [x, y, spread] = t % 4 ? [4.2, 4.9, 1.05] : [8.9, 3.4, 0.5];
      return [x + spread * noise(), y + spread * noise(), 0];
    },
  },
  grid: {
    name: "Grid",
    n: 88,
    make(t) {
      const column = t % 11, row = Math.floor(t / 11);
      return [1 + column, 1 + row, column + row < 8 ? 0 : 1];
    },
  },
};

function dataset(name, seed) {
  const random = uniform(seed * 7919 + 17);
  const noise = () => (random() + random() + random() + random() - 2) * Math.sqrt(3); // variance 1, and never far out
  return Array.from({ length: DATASETS[name].n }, (_, t) => pointAt(...DATASETS[name].make(t, random, noise)));
}
