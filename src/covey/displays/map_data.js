// Reads the data on the page. Numbers are packed: a digit says how many bytes each takes, and base64 follows.
"use strict";

const unpacked = text => {
  const bytes = Uint8Array.from(atob(text.slice(1)), character => character.charCodeAt(0));
  return new {1: Uint8Array, 2: Uint16Array, 4: Uint32Array}[text[0]](bytes.buffer);
};

class MapData {
  constructor(given) {
    this.n = given.n;
    this.x = Float32Array.from(unpacked(given.x), value => value / 65535 * given.wide);
    this.y = Float32Array.from(unpacked(given.y), value => value / 65535 * given.high);
    this.rows = unpacked(given.rows);
    this.clusters = given.clusters;
    this.colors = given.colors;
    this.nMembers = given.nMembers;
    this.nRepresentatives = given.nRepresentatives;
    this.clusterOf = unpacked(given.clusterOf);
    this.coveredBy = Int32Array.from(unpacked(given.coveredBy), value => value - 1);
    this.standsFor = new Uint32Array(this.n);
    this.isRepresentative = new Uint8Array(this.n);
    const counts = unpacked(given.standsFor), chosen = unpacked(given.representatives);
    chosen.forEach((at, rank) => { this.standsFor[at] = counts[rank]; this.isRepresentative[at] = 1; });
    this.representatives = Array.from(chosen).sort((a, b) => this.standsFor[b] - this.standsFor[a] || a - b);
    this.most = counts.reduce((most, count) => Math.max(most, count), 1);
    this.nCompared = given.nCompared;
    this.names = given.names;
    this.fieldNames = given.fieldNames;
    this.fields = given.fields;
    this.images = given.images || {};
    this.hasImages = given.images !== null;
    this.nNeighbors = given.nNeighbors;
    this.neighborList = unpacked(given.neighbors);
    this.similarityList = unpacked(given.similarities);
    this.lowest = given.lowest;
    this.highest = given.highest;
  }

  // What an object is called. A page of many long names has only those of the most important objects.
  name(at) { return this.names && this.names[at] !== null ? this.names[at] : `row ${this.rows[at]}`; }

  // The name of each field of an object and its value.
  values(at) {
    const flat = this.fields ? this.fields[at] : [], pairs = [];
    for (let part = 0; part < flat.length; part += 2) pairs.push([this.fieldNames[flat[part]], flat[part + 1]]);
    return pairs;
  }

  // A few words about an object, for a line of a list: its text, or the first of its values.
  brief(at) {
    const pairs = this.values(at);
    if (pairs.length === 1) return pairs[0][1];
    return pairs.slice(0, 3).map(([name, value]) => `${name} ${value}`).join(" · ");
  }

  image(at) { return at in this.images ? `data:image/png;base64,${this.images[at]}` : null; }

  neighbors(at) {
    const found = [];
    for (let place = at * this.nNeighbors; place < (at + 1) * this.nNeighbors; place++) {
      const other = this.neighborList[place] - 1, share = this.similarityList[place] / 65535;
      if (other >= 0) found.push({at: other, similarity: this.lowest * (1 - share) + this.highest * share});
    }
    return found;
  }

  // What each representative covers beside itself; made when it is first asked for.
  covers(at) {
    if (!this.covered) {
      this.covered = new Map();
      for (let other = 0; other < this.n; other++) {
        const owner = this.coveredBy[other];
        if (owner < 0 || owner === other) continue;
        if (!this.covered.has(owner)) this.covered.set(owner, []);
        this.covered.get(owner).push(other);
      }
    }
    return this.covered.get(at) || [];
  }

  // The objects whose name, cluster or values hold all words: those of this very name first, then representatives.
  search(words) {
    if (!this.searchable) {
      this.searchable = Array.from({length: this.n}, (_, at) =>
        `${this.name(at)} ${this.clusters[this.clusterOf[at]]} ${this.values(at).map(([, value]) => value).join(" ")}`.toLowerCase());
    }
    const wanted = words.toLowerCase().split(/\s+/).filter(word => word), found = [];
    if (!wanted.length) return found;
    for (let at = 0; at < this.n; at++) if (wanted.every(word => this.searchable[at].includes(word))) found.push(at);
    const exact = at => [words.trim().toLowerCase(), `row ${words.trim()}`].includes(this.name(at).toLowerCase());
    return found.sort((a, b) => exact(b) - exact(a) || this.standsFor[b] - this.standsFor[a] || a - b);
  }
}

// Finds the objects in a rectangle, or near a place, without looking at all of them: they are sorted into cells.
class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.across = Math.max(1, Math.ceil(Math.sqrt(x.length / 8)));
    const cells = Uint32Array.from(x, (value, at) => this.line(y[at]) * this.across + this.line(value));
    this.starts = new Uint32Array(this.across * this.across + 1);
    cells.forEach(cell => { this.starts[cell + 1]++; });
    for (let cell = 0; cell < this.across * this.across; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.items = new Uint32Array(x.length);
    cells.forEach((cell, at) => { this.items[next[cell]++] = at; });
  }

  line(value) { return Math.max(0, Math.min(this.across - 1, Math.floor(value * this.across))); }

  forEach(left, top, right, bottom, visit) {
    for (let row = this.line(top); row <= this.line(bottom); row++) {
      const first = this.starts[row * this.across + this.line(left)];
      const last = this.starts[row * this.across + this.line(right) + 1];
      for (let place = first; place < last; place++) visit(this.items[place]);
    }
  }

  nearest(x, y, reach, allowed) {
    let best = -1, least = reach;
    this.forEach(x - reach, y - reach, x + reach, y + reach, at => {
      const gap = Math.hypot(this.x[at] - x, this.y[at] - y);
      if (gap < least && allowed(at)) { best = at; least = gap; }
    });
    return best;
  }
}
