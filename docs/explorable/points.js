// How the reader chooses, moves, adds and removes points, by mouse, touch or keyboard.

const TWICE = 400; // milliseconds within which two clicks on a point remove it
let dragged = null, pressed = null, clicked = { row: null, at: 0 };

function placeOf(event) {
  const box = figure.getBoundingClientRect(), scale = FIELD.width / box.width;
  return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale, label: 0 };
}

// The row of the point under a pointer, or null. A finger needs more room than a mouse.
function hit(event) {
  if (!state.points.length) return null;
  const place = placeOf(event), row = nearest(state.points, state.points.map((_, at) => at), place);
  const { x, y } = state.points[row], scale = figure.clientWidth / FIELD.width;
  return Math.hypot(x - place.x, y - place.y) * scale <= (event.pointerType === "mouse" ? 11 : 18) ? row : null;
}

function move(row, x, y) {
  state.points = state.points.map((point, at) => (at === row ? pointAt(x, y, point.label) : point));
  update();
}

function add(x, y) {
  if (state.points.length >= MOST_POINTS) return;
  state.points = [...state.points, pointAt(x, y, state.newLabel)];
  state.followed = state.points.length - 1;
  update();
}

function remove(row) {
  if (row === null) return;
  state.points = state.points.filter((_, at) => at !== row);
  state.followed = state.points.length ? Math.min(row, state.points.length - 1) : null;
  update();
}

figure.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  dragged = hit(event);
  pressed = { x: event.clientX, y: event.clientY, moved: false };
  if (dragged === null) return;
  Object.assign(state, { followed: dragged, pointing: true });
  figure.setPointerCapture(event.pointerId);
  figure.classList.add("dragging");
  draw();
});

figure.addEventListener("pointermove", (event) => {
  const place = placeOf(event);
  if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4) pressed.moved = true;
  if (dragged !== null && pressed?.moved) return move(dragged, place.x, place.y);
  const row = hit(event);
  figure.classList.toggle("over", row !== null);
  if (row !== null && event.pointerType === "mouse") state.followed = row;
  Object.assign(state, { query: place, pointing: row !== null });
  draw();
});

figure.addEventListener("pointerup", (event) => {
  if (pressed && !pressed.moved) click(event);
  letGo();
});

// A click on a point chooses it, and a second one removes it. A click elsewhere adds a point, or asks for a class by
// touch in the last step, where a mouse only needs to move.
function click(event) {
  const place = placeOf(event);
  if (dragged === null && state.step === 5 && event.pointerType !== "mouse") state.query = place;
  else if (dragged === null) add(place.x, place.y);
  else if (clicked.row === dragged && event.timeStamp - clicked.at < TWICE) remove(dragged);
  clicked = { row: dragged, at: event.timeStamp };
  draw();
}

function letGo() {
  dragged = pressed = null;
  figure.classList.remove("dragging");
}

figure.addEventListener("pointercancel", letGo);
figure.addEventListener("pointerleave", () => {
  Object.assign(state, { query: null, pointing: false });
  draw();
});

// A finger on a point moves the point; elsewhere it scrolls the page.
figure.addEventListener("touchstart", (event) => {
  const { clientX, clientY } = event.touches[0];
  if (hit({ clientX, clientY, pointerType: "touch" }) !== null) event.preventDefault();
}, { passive: false });

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const KEYS = {
  n: () => (state.followed = ((state.followed ?? -1) + 1) % state.points.length),
  p: () => (state.followed = ((state.followed ?? 1) + state.points.length - 1) % state.points.length),
  Delete: () => remove(state.followed),
  Backspace: () => remove(state.followed),
  Enter: () => {
    const { x, y } = state.points[state.followed] ?? { x: FIELD.width / 2, y: FIELD.height / 2 };
    add(x + 0.25, y + 0.25);
  },
};

figure.addEventListener("keydown", (event) => {
  const step = MOVES[event.key], key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || !(step || KEYS[key])) return;
  event.preventDefault();
  if (step && state.followed !== null) {
    const { x, y } = state.points[state.followed];
    move(state.followed, x + step[0] / 8, y + step[1] / 8);
  } else if (!step && (state.points.length || key === "Enter")) {
    KEYS[key]();
    state.pointing = true;
    draw();
  }
});
