// Draws the map on the canvas. What is drawn depends on the zoom: of the representatives, those that stand for most are
// drawn large, as long as they do not overlap; the others are small marks until there is room for them.
"use strict";

const CELL = 6; // The canvas is cut into squares of this many pixels, which tell where there is room.

class Room {
  constructor(width, height) {
    this.across = Math.ceil(width / CELL);
    this.down = Math.ceil(height / CELL);
    this.taken = new Uint8Array(this.across * this.down);
  }

  // Takes a rectangle if nothing in it is taken yet.
  take(left, top, width, height) {
    const clip = (value, most) => Math.max(0, Math.min(most - 1, Math.floor(value / CELL)));
    const x0 = clip(left, this.across), x1 = clip(left + width, this.across);
    const y0 = clip(top, this.down), y1 = clip(top + height, this.down);
    for (let y = y0; y <= y1; y++) for (let x = x0; x <= x1; x++) if (this.taken[y * this.across + x]) return false;
    for (let y = y0; y <= y1; y++) this.taken.fill(1, y * this.across + x0, y * this.across + x1 + 1);
    return true;
  }
}

class MapView {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.pen = canvas.getContext("2d");
    this.grid = new Grid(data.x, data.y);
    this.shown = new Uint8Array(data.clusters.length).fill(1);
    this.chosen = this.pointed = -1;
    this.found = new Set();
    this.marks = [];
    this.pictures = new Map();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  isShown(at) { return this.shown[this.data.clusterOf[at]] === 1; }
  color(cluster) { return this.data.colors[cluster][this.dark.matches ? 1 : 0]; }
  left(at) { return this.data.x[at] * this.scale + this.shiftX; }
  top(at) { return this.data.y[at] * this.scale + this.shiftY; }

  resize() {
    const ratio = devicePixelRatio || 1, {clientWidth, clientHeight} = this.canvas;
    const before = this.width ? [this.width, this.height] : null;
    [this.width, this.height] = [clientWidth, clientHeight];
    this.whole = this.fitted(() => true).scale; // The scale at which all clusters are in sight.
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (before && this.moved) {
      this.shiftX += (this.width - before[0]) / 2;
      this.shiftY += (this.height - before[1]) / 2;
    } else this.fit();
    this.draw();
  }

  // The scale at which some objects fill the canvas, and the middle of them.
  fitted(isOne) {
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (let at = 0; at < this.data.n; at++) {
      if (!isOne(at)) continue;
      left = Math.min(left, this.data.x[at]);
      right = Math.max(right, this.data.x[at]);
      top = Math.min(top, this.data.y[at]);
      bottom = Math.max(bottom, this.data.y[at]);
    }
    if (left > right) return null;
    const margin = Math.min(36, this.width / 10);
    const scales = [(this.width - 2 * margin) / (right - left), (this.height - 2 * margin) / (bottom - top)];
    return {scale: Math.min(...scales, 20 * this.width), x: (left + right) / 2, y: (top + bottom) / 2};
  }

  // Shows all objects of the clusters that are shown.
  fit() {
    const fitted = this.fitted(at => this.isShown(at));
    if (!fitted) return;
    this.scale = fitted.scale;
    this.shiftX = this.width / 2 - fitted.x * this.scale;
    this.shiftY = this.height / 2 - fitted.y * this.scale;
    this.moved = false;
    this.redraw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.max(this.whole / 2, Math.min(this.whole * 500, this.scale * factor)), by = scale / this.scale;
    this.shiftX = x - (x - this.shiftX) * by;
    this.shiftY = y - (y - this.shiftY) * by;
    this.scale = scale;
    this.moved = true;
    this.redraw();
  }

  pan(x, y) {
    this.shiftX += x;
    this.shiftY += y;
    this.moved = true;
    this.redraw();
  }

  // Moves an object that lies outside or at the edge into the middle.
  reveal(at) {
    const x = this.left(at), y = this.top(at), margin = 40;
    if (x < margin || y < margin || x > this.width - margin || y > this.height - margin) this.pan(this.width / 2 - x, this.height / 2 - y);
    this.redraw();
  }

  redraw() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.draw(); });
  }

  // The object at a place of the canvas: what is drawn large there, or the nearest within reach.
  pick(x, y, reach) {
    for (let rank = this.marks.length - 1; rank >= 0; rank--) {
      const {at, half} = this.marks[rank];
      if (Math.abs(this.left(at) - x) <= half && Math.abs(this.top(at) - y) <= half) return at;
    }
    return this.grid.nearest((x - this.shiftX) / this.scale, (y - this.shiftY) / this.scale, reach / this.scale, at => this.isShown(at));
  }

  draw() {
    const {pen, data, width, height} = this, style = getComputedStyle(document.documentElement);
    if (!width || !height) return;
    this.paper = style.getPropertyValue("--paper");
    this.ink = style.getPropertyValue("--ink");
    pen.clearRect(0, 0, width, height);
    const edge = 40 / this.scale, visible = [];
    const ends = [-this.shiftX, -this.shiftY, width - this.shiftX, height - this.shiftY].map(end => end / this.scale);
    this.grid.forEach(ends[0] - edge, ends[1] - edge, ends[2] + edge, ends[3] + edge, at => { if (this.isShown(at)) visible.push(at); });
    this.lit = this.group(this.chosen);
    this.drawLines(visible);
    this.drawDots(visible.filter(at => !data.isRepresentative[at]));
    const ranked = visible.length < data.n / 4 ? visible.filter(at => data.isRepresentative[at]).sort((a, b) => data.standsFor[b] - data.standsFor[a] || a - b)
      : data.representatives.filter(at => this.isShown(at));
    this.drawRepresentatives(ranked);
    this.drawChosen();
    Object.assign(this.canvas.dataset, {points: visible.length, large: this.marks.length, frames: Number(this.canvas.dataset.frames || 0) + 1});
  }

  // What belongs to an object: what it covers, or what covers it, and what it is most similar to.
  group(at) {
    if (at < 0) return null;
    const owner = this.data.coveredBy[at];
    const own = this.data.isRepresentative[at] ? this.data.covers(at) : owner < 0 ? [] : [owner];
    return new Set([at, ...own, ...this.data.neighbors(at).map(one => one.at)]);
  }

  drawLines(visible) {
    if (this.chosen >= 0) return this.drawOwnLines(this.chosen);
    if (visible.length > 2500) return undefined; // More lines would hide the objects.
    const {pen, data} = this;
    pen.globalAlpha = Math.min(.25, 200 / visible.length); // Many lines together are as dark as few.
    pen.lineWidth = .8;
    for (const at of visible) {
      const owner = data.coveredBy[at];
      if (owner < 0 || owner === at) continue;
      pen.strokeStyle = this.color(data.clusterOf[at]);
      this.line(at, owner);
    }
    pen.globalAlpha = 1;
    return undefined;
  }

  // From the object that is chosen to what belongs to it: whole lines, and broken ones to what it is most similar to.
  drawOwnLines(at) {
    const {pen, data} = this, own = [...this.lit].filter(other => data.coveredBy[other] === at || data.coveredBy[at] === other);
    if (!this.isShown(at)) return;
    pen.strokeStyle = this.color(data.clusterOf[at]);
    pen.lineWidth = 1;
    pen.globalAlpha = own.length > 300 ? .3 : .7;
    own.filter(other => this.isShown(other)).forEach(other => this.line(at, other));
    pen.globalAlpha = 1;
    pen.strokeStyle = this.ink;
    pen.setLineDash([3, 3]);
    for (const near of data.neighbors(at)) if (this.isShown(near.at)) this.line(at, near.at);
    pen.setLineDash([]);
  }

  line(from, to) {
    this.pen.beginPath();
    this.pen.moveTo(this.left(from), this.top(from));
    this.pen.lineTo(this.left(to), this.top(to));
    this.pen.stroke();
  }

  drawDots(visible) {
    const {pen, data} = this, by = data.clusters.map(() => []);
    for (const at of visible) by[data.clusterOf[at]].push(at);
    const room = Math.sqrt(this.width * this.height / Math.max(1, visible.length));
    this.dot = Math.max(1, Math.min(4.5, room / 8));
    pen.lineWidth = 1;
    by.forEach((members, cluster) => {
      pen.fillStyle = pen.strokeStyle = this.color(cluster);
      for (const lit of this.lit || this.found.size ? [false, true] : [true]) {
        pen.globalAlpha = lit ? .75 : .15;
        for (const at of members) if (this.isLit(at) === lit) this.drawDot(at, lit && (this.lit || this.found.size) ? Math.max(2.2, this.dot) : this.dot);
      }
    });
    pen.globalAlpha = 1;
  }

  isLit(at) { return this.lit ? this.lit.has(at) : !this.found.size || this.found.has(at); }

  drawDot(at, r) {
    const {pen} = this, x = this.left(at), y = this.top(at);
    const covered = this.data.coveredBy[at] >= 0;
    if (r < 1.6 && covered) return pen.fillRect(x - r, y - r, 2 * r, 2 * r); // So small, a square looks like a disc.
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    return covered ? pen.fill() : pen.stroke();
  }

  drawRepresentatives(ranked) {
    const {pen, data, width, height} = this, room = new Room(width, height);
    let budget = width * height * (data.hasImages ? .3 : .08);
    const large = [], small = [];
    for (const at of ranked) {
      const x = this.left(at), y = this.top(at), half = this.half(at);
      const inside = x > -half && y > -half && x < width + half && y < height + half;
      if (!inside) continue;
      const fits = budget > 0 && room.take(x - half - 2, y - half - 2, 2 * half + 4, 2 * half + 4);
      if (fits) budget -= 4 * half * half;
      (fits ? large : small).push({at, half});
    }
    const size = Math.max(2.6, Math.min(5, Math.sqrt(width * height / Math.max(1, ranked.length)) / 7));
    for (const {at} of small) this.drawDiamond(at, size, .9);
    for (let rank = large.length - 1; rank >= 0; rank--) this.drawLarge(large[rank].at, large[rank].half);
    this.marks = large;
    pen.globalAlpha = 1;
    this.drawWords(large, room);
  }

  // Half the side of the mark of a representative, if there is room for it.
  half(at) {
    const share = Math.sqrt(this.data.standsFor[at] / this.data.most), narrow = this.width < 600 ? .8 : 1;
    const closer = Math.max(1, Math.min(2, (this.scale / this.whole) ** .4));
    return narrow * closer * (this.data.image(at) ? 9 + 11 * share : 6 + 7 * share);
  }

  drawLarge(at, half) {
    const picture = this.picture(at);
    if (!picture) return this.drawDiamond(at, half, 1.4);
    const {pen} = this, x = this.left(at), y = this.top(at);
    pen.globalAlpha = this.isLit(at) ? 1 : .2;
    pen.fillStyle = this.color(this.data.clusterOf[at]);
    pen.fillRect(x - half, y - half, 2 * half, 2 * half);
    pen.imageSmoothingEnabled = false;
    const frame = Math.max(2, half / 8), inner = 2 * (half - frame);
    const by = inner / Math.max(picture.naturalWidth, picture.naturalHeight);
    const across = picture.naturalWidth * by, down = picture.naturalHeight * by;
    pen.drawImage(picture, x - across / 2, y - down / 2, across, down);
    return undefined;
  }

  drawDiamond(at, half, line) {
    const {pen} = this, x = this.left(at), y = this.top(at);
    pen.globalAlpha = this.isLit(at) ? 1 : .2;
    pen.beginPath();
    pen.moveTo(x, y - half);
    pen.lineTo(x + half, y);
    pen.lineTo(x, y + half);
    pen.lineTo(x - half, y);
    pen.closePath();
    pen.fillStyle = this.color(this.data.clusterOf[at]);
    pen.fill();
    pen.strokeStyle = this.ink;
    pen.lineWidth = line;
    pen.stroke();
  }

  // The image of an object, or null until the browser has read it.
  picture(at) {
    const address = this.data.image(at);
    if (!address) return null;
    if (!this.pictures.has(at)) {
      const made = new Image();
      made.onload = () => this.redraw();
      made.src = address;
      this.pictures.set(at, made);
    }
    const picture = this.pictures.get(at);
    return picture.complete && picture.naturalWidth ? picture : null;
  }

  // Names below large marks, where there is room. Images speak for themselves, and row numbers say nothing.
  drawWords(large, room) {
    const {pen, data} = this;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    let named = 0;
    for (const {at, half} of large) {
      const called = /^row \d+$/.test(data.name(at)) ? "" : data.name(at);
      const whole = called || (data.values(at).length === 1 ? data.brief(at) : "");
      if (!whole || named >= 60 || data.image(at) || !this.isLit(at)) continue;
      const characters = [...whole], text = characters.length > 24 ? `${characters.slice(0, 23).join("")}…` : whole, wide = pen.measureText(text).width;
      const x = this.left(at), y = this.top(at) + half + 3;
      if (x - wide / 2 < 0 || x + wide / 2 > this.width || !room.take(x - wide / 2, y + CELL - 1, wide, CELL)) continue; // Its mark takes the cells above.
      named++;
      pen.strokeStyle = this.paper;
      pen.strokeText(text, x, y);
      pen.fillStyle = this.ink;
      pen.fillText(text, x, y);
    }
  }

  // Rings around what is chosen, its neighbors, and what is pointed at. What is chosen is drawn above all rings of others.
  drawChosen() {
    const {pen, data, chosen} = this;
    if (chosen >= 0 && this.isShown(chosen)) {
      pen.setLineDash([3, 3]);
      for (const {at} of data.neighbors(chosen)) if (this.isShown(at)) this.ring(at, 3, 1.5);
      pen.setLineDash([]);
      const mark = this.marks.find(one => one.at === chosen);
      if (mark) this.drawLarge(chosen, mark.half);
      this.ring(chosen, 4, 3);
    }
    if (this.pointed >= 0 && this.isShown(this.pointed)) this.ring(this.pointed, 3, 2);
  }

  ring(at, gap, line) {
    const {pen} = this, mark = this.marks.find(one => one.at === at);
    pen.beginPath();
    pen.arc(this.left(at), this.top(at), (mark ? mark.half * 1.2 : this.dot + 1) + gap, 0, 2 * Math.PI);
    pen.strokeStyle = this.ink;
    pen.lineWidth = line;
    pen.stroke();
  }
}
