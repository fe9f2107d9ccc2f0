// Draws the map from the data on the page, and shows what belongs to the object that is pointed at, tapped or focused.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const map = document.getElementById("map"), tip = document.getElementById("tip");
  const every = data.names.map((_, at) => at);
  const most = Math.max(1, ...data.standsFor);
  const representatives = every.filter(at => data.isRepresentative[at]).sort((a, b) => data.standsFor[b] - data.standsFor[a]);
  const covers = every.map(() => []);
  const linked = every.filter(at => data.coveredBy[at] >= 0 && data.coveredBy[at] !== at);
  linked.forEach(at => covers[data.coveredBy[at]].push(at));

  const add = (parent, tag, name) => {
    const made = parent.appendChild(document.createElementNS(map.namespaceURI, tag));
    made.setAttribute("class", name);
    return made;
  };
  const place = (element, values) => { for (const key in values) element.setAttribute(key, values[key].toFixed(1)); };

  // Lines lie below all dots, and representatives above the others, the smallest on top so that none hides another.
  const [threads, others, chosen] = ["threads", "others", "chosen"].map(name => add(map, "g", name));
  const lines = [], dots = [];
  linked.forEach(at => { lines[at] = add(threads, "line", ""); });
  every.forEach(at => { if (!data.isRepresentative[at]) dots[at] = add(others, "circle", data.coveredBy[at] < 0 ? "uncovered" : "object"); });
  const images = data.images || [], boxed = at => data.isRepresentative[at] && images[at];
  const box = at => {
    const group = add(chosen, "g", "representative boxed");
    add(group, "rect", "");
    add(group, "image", "").setAttribute("href", images[at]);
    return group;
  };
  representatives.forEach((at, rank) => {
    const dot = dots[at] = boxed(at) ? box(at) : add(chosen, "circle", "representative");
    dot.setAttribute("tabindex", rank ? -1 : 0);
    dot.setAttribute("role", "img");
    dot.setAttribute("aria-label", `${data.names[at]}, stands for ${data.standsFor[at]} of ${data.nMembers}`);
    dot.addEventListener("focus", () => enter(at));
    dot.addEventListener("blur", () => show(-1));
    dot.addEventListener("keydown", event => step(event, rank));
  });
  dots.forEach((dot, at) => { dot.dataset.at = at; });

  const places = [];
  const draw = () => {
    const width = map.clientWidth, wide = Math.max(...data.x), high = Math.max(...data.y);
    const room = innerHeight - map.getBoundingClientRect().top - scrollY - 48;
    const height = Math.min(width * Math.min(1.2, Math.max(.45, high)), Math.max(320, room));
    const size = Math.max(.6, Math.min(1, Math.sqrt(width * height / every.length) / 30)), margin = 24 * size;
    const scale = Math.min((width - 2 * margin) / (wide || 1), (height - 2 * margin) / (high || 1));
    map.style.height = `${height}px`;
    const room_of_box = Math.sqrt(width * height / Math.max(1, representatives.filter(boxed).length)) / 4;
    const side = Math.max(9, Math.min(30, room_of_box));
    every.forEach(at => {
      const x = width / 2 + (data.x[at] - wide / 2) * scale, y = height / 2 + (data.y[at] - high / 2) * scale;
      const share = Math.sqrt(data.standsFor[at] / most);
      const r = boxed(at) ? side * (.5 + .5 * share) : size * (data.isRepresentative[at] ? 4 + 8 * share : 3);
      places[at] = {x, y, r};
      if (boxed(at)) for (const part of dots[at].children) place(part, {x: x - r, y: y - r, width: 2 * r, height: 2 * r});
      else place(dots[at], {cx: x, cy: y, r});
    });
    linked.forEach(at => {
      const from = places[at], to = places[data.coveredBy[at]];
      place(lines[at], {x1: from.x, y1: from.y, x2: to.x, y2: to.y});
    });
    show(shown);
  };

  const short = name => name.length > 80 ? `${name.slice(0, 79)}…` : name;
  const write = (tag, text, parent = tip) => { parent.appendChild(document.createElement(tag)).textContent = text; };
  const picture = (at, parent = tip) => {
    if (!images[at]) return;
    const made = parent.appendChild(document.createElement("img"));
    made.src = images[at];
    made.alt = data.names[at];
  };
  const describe = at => {
    tip.replaceChildren();
    picture(at);
    write("strong", short(data.names[at]));
    const owner = data.coveredBy[at];
    if (!data.isRepresentative[at]) {
      write("span", owner < 0 ? "no representative covers it" : `represented by ${short(data.names[owner])}`);
      if (owner >= 0) picture(owner);
      return;
    }
    write("span", `stands for ${data.standsFor[at]} of ${data.nMembers}`);
    const pictured = covers[at].filter(other => images[other]).slice(0, 12);
    const list = document.createElement("ul"), first = pictured.length ? pictured : covers[at].slice(0, 5);
    if (pictured.length) {
      list.className = "pictures";
      first.forEach(other => picture(other, list.appendChild(document.createElement("li"))));
    } else first.forEach(other => write("li", short(data.names[other]), list));
    const more = data.standsFor[at] - 1 - first.length;
    if (more > 0) write("li", `and ${more} more`, list);
    if (list.children.length) tip.append(list);
  };

  // Put the box on the side of the dot where it hides the fewest of the dots that are lit, and never over the edge.
  const settle = ({x, y, r}, group) => {
    const across = tip.offsetWidth, down = tip.offsetHeight, gap = r + 8;
    const within = (value, most) => Math.max(4, Math.min(value, most - 4));
    const sides = [[1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1], [0, 1], [0, -1]].map(([h, v]) => {
      const left = within(x + h * gap + (h - 1) * across / 2, map.clientWidth - across);
      const top = within(y + v * gap + (v - 1) * down / 2, map.clientHeight - down);
      const hides = at => Math.abs(places[at].x - left - across / 2) < across / 2 + 4 && Math.abs(places[at].y - top - down / 2) < down / 2 + 4;
      return {left, top, hidden: group.filter(hides).length};
    });
    const best = sides.reduce((best, side) => side.hidden < best.hidden ? side : best);
    tip.style.left = `${best.left}px`;
    tip.style.top = `${best.top}px`;
  };

  let shown = -1, lit = [];
  const show = at => {
    shown = at;
    lit.forEach(element => element.classList.remove("lit", "at"));
    map.classList.toggle("shown", at >= 0);
    tip.hidden = at < 0;
    if (at < 0) return;
    const owner = data.coveredBy[at];
    const group = data.isRepresentative[at] ? [at, ...covers[at]] : owner < 0 ? [at] : [at, owner];
    lit = group.flatMap(one => lines[one] ? [dots[one], lines[one]] : [dots[one]]);
    lit.forEach(element => element.classList.add("lit"));
    dots[at].classList.add("at");
    describe(at);
    tip.style.left = "0"; // Here the box has room for its full width, which settle() measures.
    settle(places[at], group);
  };

  // Tab stops at one representative. Arrow keys go on from there, in the order of how many objects they stand for.
  let stop = representatives[0];
  const enter = at => {
    dots[stop].setAttribute("tabindex", -1);
    dots[at].setAttribute("tabindex", 0);
    stop = at;
    show(at);
  };
  const step = (event, rank) => {
    const to = {ArrowRight: rank + 1, ArrowDown: rank + 1, ArrowLeft: rank - 1, ArrowUp: rank - 1, Home: 0, End: -1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    dots[representatives.at(to % representatives.length)].focus();
  };

  // The dot under the pointer; if there is none, the nearest within reach, because a finger is wide and dots are small.
  const found = event => {
    const dot = event.target.closest("[data-at]");
    if (dot) return Number(dot.dataset.at);
    const box = map.getBoundingClientRect(), reach = event.pointerType === "mouse" ? 8 : 24;
    const gaps = places.map(({x, y, r}) => Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y) - r);
    const least = gaps.reduce((best, gap, at) => gap < gaps[best] ? at : best, 0);
    return gaps[least] <= reach ? least : -1;
  };
  const focused = () => dots.indexOf(document.activeElement);
  map.addEventListener("pointermove", event => { if (event.pointerType === "mouse") show(found(event)); });
  map.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") show(focused()); });
  map.addEventListener("click", event => show(found(event)));
  addEventListener("keydown", event => {
    if (event.key === "Escape") { document.activeElement.blur(); show(-1); }
  });
  addEventListener("resize", draw);
  draw();
})();
