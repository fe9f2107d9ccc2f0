// Starts the page: reads the data, and lets the pointer, fingers, keys, switcher, legend and search act on the map.
"use strict";

const given = JSON.parse(document.getElementById("data").textContent), data = new MapData(given);
const [canvas, status, search, switcher, legend] = ["map", "status", "search", "switcher", "legend"].map(id => document.getElementById(id));
const view = new MapView(canvas, data);
const panel = new Panel(document.getElementById("panel"), data, cluster => view.color(cluster), at => choose(at));

// Writes into the panel what belongs there now: what is chosen, or what is found, or an overview.
const tell = () => {
  const words = search.value.trim(), found = words ? data.search(words) : [];
  view.found = new Set(found);
  if (view.chosen >= 0) panel.show(view.chosen);
  else if (words) panel.found(words, found, at => view.isShown(at));
  else panel.overview(at => view.isShown(at), view.shown);
  view.redraw();
};
const choose = at => {
  view.chosen = at;
  if (at >= 0 && !view.isShown(at)) showClusters(view.shown.map((shown, own) => shown || own === data.clusterOf[at]), false);
  if (at >= 0) view.reveal(at);
  const wasInPanel = panel.root.contains(document.activeElement);
  tell();
  if (wasInPanel) panel.root.focus(); // What had the focus is gone.
};
const showClusters = (shown, fit = true) => {
  view.shown = Uint8Array.from(shown, value => value ? 1 : 0);
  if (view.chosen >= 0 && !view.isShown(view.chosen)) view.chosen = -1;
  const many = view.shown.reduce((all, value) => all + value, 0);
  if (switcher) switcher.value = many === data.clusters.length ? "all" : many === 1 ? String(view.shown.indexOf(1)) : "some";
  [...legend.children].forEach((button, own) => button.setAttribute("aria-pressed", view.shown[own] === 1));
  if (fit) view.fit();
  tell();
};

// The switcher and the legend. A map of one cluster needs neither.
const only = cluster => data.clusters.map((_, own) => own === cluster);
if (switcher) {
  const offer = (value, text) => { element("option", switcher, text).value = value; };
  offer("all", "all clusters");
  data.clusters.forEach((label, own) => offer(String(own), `cluster ${label}`));
  offer("some", "some clusters");
  switcher.lastChild.hidden = switcher.lastChild.disabled = true;
  switcher.addEventListener("change", () => {
    showClusters(switcher.value === "all" ? data.clusters.map(() => true) : only(Number(switcher.value)));
  });
  data.clusters.forEach((label, own) => {
    const button = element("button", legend);
    panel.swatch(button, own, false);
    element("span", button, label);
    element("small", button, count(data.nMembers[own]));
    button.title = `Show or hide cluster ${label}`;
    button.addEventListener("click", () => showClusters(view.shown.map((shown, other) => other === own ? !shown : shown), false));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    [...legend.children].forEach((button, own) => { button.firstChild.style.background = view.color(own); });
    tell();
  });
} else legend.hidden = true;

search.addEventListener("input", () => { view.chosen = -1; tell(); });
search.addEventListener("keydown", event => {
  if (event.key === "Enter" && view.found.size) choose(view.found.values().next().value);
  if (event.key === "Escape") { search.value = ""; choose(-1); }
});

// Pointers: one moves the map or chooses, two zoom. What lies under a mouse is named below the map, not over it.
const pointers = new Map();
let travelled = 0;
const place = event => {
  const box = canvas.getBoundingClientRect();
  return {x: event.clientX - box.left - canvas.clientLeft, y: event.clientY - box.top - canvas.clientTop};
};
const point = at => {
  if (at === view.pointed) return;
  view.pointed = at;
  canvas.classList.toggle("over", at >= 0);
  const words = at < 0 ? "" : data.isRepresentative[at] ? `stands for ${count(data.standsFor[at])}` : data.brief(at);
  status.textContent = at < 0 ? "" : `${data.name(at)} · cluster ${data.clusters[data.clusterOf[at]]}${words ? ` · ${words}` : ""}`;
  view.redraw();
};
const middle = () => {
  const all = [...pointers.values()];
  const x = all.reduce((sum, one) => sum + one.x, 0) / all.length, y = all.reduce((sum, one) => sum + one.y, 0) / all.length;
  return {x, y, spread: all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0};
};
canvas.addEventListener("pointerdown", event => {
  if (event.button > 0) return; // Other buttons of a mouse open menus.
  if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
  if (!pointers.size) travelled = 0;
  pointers.set(event.pointerId, place(event));
});
canvas.addEventListener("pointermove", event => {
  if (!pointers.has(event.pointerId)) {
    if (event.pointerType === "mouse") point(view.pick(place(event).x, place(event).y, 8));
    return;
  }
  const before = middle();
  pointers.set(event.pointerId, place(event));
  const after = middle();
  travelled += Math.hypot(after.x - before.x, after.y - before.y) + Math.abs(after.spread - before.spread);
  if (travelled < 5) return; // A finger that taps moves a little.
  canvas.classList.add("moved");
  view.pan(after.x - before.x, after.y - before.y);
  if (before.spread && after.spread) view.zoom(after.spread / before.spread, after.x, after.y);
});
const release = event => {
  if (!pointers.delete(event.pointerId) || pointers.size) return;
  canvas.classList.remove("moved");
  if (event.type === "pointerup" && travelled < 5) choose(view.pick(place(event).x, place(event).y, event.pointerType === "mouse" ? 8 : 24));
};
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => point(-1));
canvas.addEventListener("wheel", event => {
  if (window !== window.top && document.activeElement !== canvas) return; // A notebook is scrolled until the map is chosen.
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 : 1; // Some mice report lines, others pixels.
  view.zoom(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) / 300), place(event).x, place(event).y);
}, {passive: false});

// Keys: the next representative is the one that stands for the next fewest objects.
const step = by => {
  const order = data.representatives.filter(at => view.isShown(at)), now = order.indexOf(view.chosen);
  if (order.length) choose(order.at((now < 0 ? by < 0 ? -1 : 0 : now + by) % order.length));
};
const keys = {
  ArrowLeft: () => view.pan(60, 0), ArrowRight: () => view.pan(-60, 0), ArrowUp: () => view.pan(0, 60), ArrowDown: () => view.pan(0, -60),
  "+": () => view.zoom(1.5), "=": () => view.zoom(1.5), "-": () => view.zoom(1 / 1.5), 0: () => view.fit(),
  n: () => step(1), p: () => step(-1), Escape: () => choose(-1),
};
canvas.addEventListener("keydown", event => {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!(key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[key]();
});
document.getElementById("panel").addEventListener("keydown", event => { if (event.key === "Escape") { choose(-1); canvas.focus(); } });
document.getElementById("closer").addEventListener("click", () => view.zoom(1.5));
document.getElementById("farther").addEventListener("click", () => view.zoom(1 / 1.5));
document.getElementById("whole").addEventListener("click", () => view.fit());

showClusters(given.first === null ? data.clusters.map(() => true) : only(given.first));
