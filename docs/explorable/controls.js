// The controls: what the reader does changes the state, and every change shows the state again.

const byId = (id) => document.getElementById(id);
const figure = byId("figure"), sections = [1, 2, 3, 4, 5].map((step) => byId(`step-${step}`));
const stepButtons = [...document.querySelectorAll(".steps button")];
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const FADE = 420, PAUSE = 900; // milliseconds of a change of scene, and between two picks

const state = {
  data: "moons", // the data set that a new sample is drawn from
  seed: 1,
  points: [],
  settings: {}, // k, coverage, and the threshold as `mode` and `tau`
  newLabel: 0, // the class of points that are added
  step: 1,
  shown: 1, // how many picks are shown in step 4
  followed: null, // the row of the chosen point
  pointing: false, // whether the reader points at it now
  query: null, // the spot at which the reader points
};
let model, scene = { ...SCENES[1] }, fade = null, timer = null, asked = false;

// ---- What is computed and shown ----

function load(name, seed) {
  Object.assign(state, { data: name, seed });
  begin(dataset(name, seed));
}

function begin(points) {
  Object.assign(state, { points, shown: 1, followed: null });
  update();
  state.followed = strayOf(model);
}

function settingsNow() {
  const [k, coverage, tau] = ["k", "coverage", "tau"].map((id) => Number(byId(id).value));
  return { k, coverage: coverage / 100, mode: byId("mode").value, tau: tau / 100 };
}

// Compute everything again. If all picks were shown, all are shown afterwards.
function update() {
  const all = model && state.shown >= model.sequence.length && state.step === 4 && state.shown > 1;
  state.settings = settingsNow();
  model = modelOf(state.points, state.settings);
  state.shown = all ? model.sequence.length : Math.min(state.shown, model.sequence.length);
  byId("k-value").textContent = state.settings.k;
  byId("coverage-value").textContent = `${byId("coverage").value} %`;
  byId("tau-value").textContent = thresholdText(model);
  if (state.settings.mode === "homogeneity" && model.points.length) byId("tau").value = 100 * meanThreshold(model);
  byId("histogram-caption").textContent = histogramText(model);
  byId("code").textContent = pythonCode(model, state.settings);
  byId("shown").max = model.sequence.length;
  const results = resultsOf(model).map(([term, value]) => [made("dt", {}, term), made("dd", {}, value)]);
  fill("results", results.map((pair) => made("div", {}, ...pair)));
  for (const button of byId("datasets").children) button.setAttribute("aria-pressed", button.value === state.data);
  for (const button of byId("classes").children) button.setAttribute("aria-pressed", +button.value === state.newLabel);
  byId("remove").disabled = !state.points.length;
  drawHistogram(byId("histogram"), model);
  showPicks();
}

function showPicks() {
  const { shown } = state, { next } = progressOf(model, shown), total = model.sequence.length;
  byId("shown").value = shown;
  byId("shown-value").textContent = `${shown} of ${total}`;
  byId("back").disabled = shown <= 0;
  byId("next").disabled = byId("all").disabled = shown >= total;
  fill("bars", model.prototypes.map((prototype) => barOf(prototype, shown)));
  byId("gains-title").textContent = next ? `The largest gains of ${nameOf(next.prototype)} now` : "Enough is covered.";
  fill("gains", next ? largestGains(next) : []);
  draw();
}

function barOf(prototype, shown) {
  const { label, required } = prototype, n = prototype.members.length;
  const done = model.sequence.slice(0, shown).filter((entry) => entry.prototype === prototype);
  const covered = done.at(-1)?.pick.covered ?? 0;
  const told = `${covered} of ${n} covered, ${required} wanted`;
  const share = made("i", { "--share": covered / n, "--color": `var(--class-${label})` });
  const track = made("div", { class: "track" }, share, made("u", { "--share": required / n }));
  return made("div", { class: "bar" }, made("p", {}, made("span", {}, CLASSES[label]), made("span", {}, told)), track);
}

function largestGains({ prototype, pick }) {
  const others = prototype.rows.map((_, object) => object).filter((object) => object !== pick.object);
  others.sort((a, b) => pick.before[b] - pick.before[a] || a - b);
  return [pick.object, ...others].slice(0, 4).map((object, t) => {
    const share = { "--share": pick.before[object] / pick.gain, "--color": `var(--class-${prototype.label})` };
    const name = `Point ${prototype.rows[object]}${t ? "" : " is next"}`;
    return made("li", {}, made("span", {}, name), made("i", share), made("span", {}, pick.before[object].toFixed(2)));
  });
}

// An element with attributes, or style variables if their names begin with --, and with children.
function made(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function fill(id, children) {
  byId(id).replaceChildren(...children);
}

// Draw before the next frame, once, however often it is asked for.
function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame((now) => {
    asked = false;
    if (fade) advance(now);
    byId("caption").textContent = captionOf(model, state);
    drawFigure(figure, model, scene, state);
  });
}

function advance(now) {
  fade.start ??= now;
  const t = Math.min((now - fade.start) / FADE, 1), eased = t * t * (3 - 2 * t);
  for (const name of Object.keys(scene)) scene[name] = fade.from[name] + eased * (fade.to[name] - fade.from[name]);
  if (t === 1) fade = null;
  else draw();
}

// ---- Steps ----

function goTo(step) {
  if (step === state.step) return;
  Object.assign(state, { step, query: null, pointing: false });
  stop();
  if (calm.matches) scene = { ...SCENES[step] };
  else fade = { from: { ...scene }, to: SCENES[step] };
  markStep();
  draw();
}

function markStep() {
  for (const button of stepButtons) {
    if (+button.dataset.step === state.step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
}

// The step is the last section that begins above a line in the part of the window where the text is.
function followScroll() {
  const stage = document.querySelector(".stage").getBoundingClientRect();
  const above = sections[0].getBoundingClientRect().left < stage.left ? 0 : Math.max(stage.bottom, 0);
  const line = above + (window.innerHeight - above) * 0.45;
  document.documentElement.style.setProperty("--stage", `${Math.round(stage.height + 4)}px`);
  const begun = sections.filter((section) => section.getBoundingClientRect().top < line);
  goTo(Math.max(1, begun.length));
}

for (const button of stepButtons) {
  button.addEventListener("click", () => {
    byId(`step-${button.dataset.step}`).scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
  });
}

// ---- Picks, one at a time ----

function showUpTo(shown) {
  state.shown = Math.min(Math.max(shown, 0), model.sequence.length);
  showPicks();
}

function stop() {
  clearInterval(timer);
  timer = null;
  byId("play").textContent = "Play";
}

function play() {
  if (timer) return stop();
  if (state.shown >= model.sequence.length) showUpTo(0);
  byId("play").textContent = "Pause";
  timer = setInterval(() => {
    showUpTo(state.shown + 1);
    if (state.shown >= model.sequence.length) stop();
  }, PAUSE);
}

byId("play").addEventListener("click", play);
function showWhen(id, event, target) {
  byId(id).addEventListener(event, () => {
    stop();
    showUpTo(target());
  });
}

showWhen("back", "click", () => state.shown - 1);
showWhen("next", "click", () => state.shown + 1);
showWhen("all", "click", () => Infinity);
showWhen("shown", "input", () => Number(byId("shown").value));

// ---- Settings and data ----

for (const id of ["k", "coverage", "mode"]) byId(id).addEventListener("input", update);
byId("tau").addEventListener("input", () => {
  byId("mode").value = "number";
  update();
});
for (const [name, { name: title }] of Object.entries(DATASETS)) {
  byId("datasets").append(made("button", { type: "button", value: name }, title));
}
byId("datasets").addEventListener("click", ({ target }) => target.value && load(target.value, 1));
CLASSES.forEach((name, label) => {
  byId("classes").append(made("button", { type: "button", value: label }, made("canvas", {}), name));
});
byId("classes").addEventListener("click", ({ target }) => {
  state.newLabel = +(target.closest("button")?.value ?? state.newLabel);
  update();
});
byId("again").addEventListener("click", () => load(state.data, state.seed + 1));
byId("clear").addEventListener("click", () => begin([]));
byId("remove").addEventListener("click", () => remove(state.followed));
