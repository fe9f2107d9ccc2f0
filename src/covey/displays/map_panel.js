// Writes beside the map what is chosen: its values, what it stands for, and what it is most similar to.
"use strict";

const MANY = 60; // How many objects a list shows before it is asked for more.

const element = (tag, parent, text = "", name = "") => {
  const made = parent.appendChild(document.createElement(tag));
  if (text) made.textContent = text;
  if (name) made.className = name;
  return made;
};
const count = number => number.toLocaleString("en");
const several = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

class Panel {
  constructor(root, data, color, choose) {
    Object.assign(this, {root, data, color, choose});
    this.words = element("div", root);
    this.words.setAttribute("aria-live", "polite"); // Lists may be long, so that they are not read out.
    this.lists = element("div", root);
  }

  // Empties the panel, and writes what it is about.
  begin(title) {
    this.words.replaceChildren();
    this.lists.replaceChildren();
    element("h2", this.words, title);
    this.root.scrollTop = 0;
  }

  swatch(parent, cluster, isRepresentative) {
    element("span", parent, "", isRepresentative ? "swatch diamond" : "swatch").style.background = this.color(cluster);
  }

  picture(parent, at, name = "") {
    const address = this.data.image(at);
    if (!address) return false;
    const made = element("img", parent, "", name);
    made.src = address;
    made.alt = this.data.name(at);
    return true;
  }

  cluster(at) {
    const line = element("p", this.words, "", "cluster"), {data} = this, own = data.clusterOf[at];
    this.swatch(line, own, data.isRepresentative[at]);
    element("span", line, `${data.isRepresentative[at] ? "representative" : "member"} of cluster ${data.clusters[own]}`);
  }

  values(at) {
    const pairs = this.data.values(at);
    if (pairs.length === 1 && pairs[0][0] === "text") {
      element("p", this.words, pairs[0][1], "text");
      return;
    }
    const list = pairs.length ? element("dl", this.words) : null;
    for (const [name, value] of pairs) {
      element("dt", list, name);
      element("dd", list, value);
    }
  }

  // A button for an object in a list; a note stands at its end.
  item(list, at, note = "") {
    const {data} = this, made = element("button", element("li", list), "", "item"), brief = data.brief(at);
    made.dataset.at = at;
    if (!this.picture(made, at)) this.swatch(made, data.clusterOf[at], data.isRepresentative[at]);
    const words = element("span", made, "", "words");
    element("span", words, data.name(at));
    if (brief && brief !== data.name(at)) element("small", words, brief);
    if (note) element("span", made, note, "note");
    if (made.firstChild.tagName === "IMG") made.title = data.name(at);
    made.addEventListener("click", () => this.choose(at));
  }

  list(title, objects, note = () => "", pictures = false) {
    if (!objects.length) return;
    element("h3", this.lists, title);
    const list = element("ul", this.lists, "", pictures ? "pictures" : "");
    let next = 0;
    const add = () => objects.slice(next, next += MANY).forEach(at => this.item(list, at, note(at)));
    add();
    if (objects.length <= next) return;
    const more = element("button", this.lists, "Show more", "more");
    more.addEventListener("click", () => {
      add();
      more.hidden = objects.length <= next;
    });
  }

  // Images side by side, and then the objects whose images are not on the page.
  pictures(title, objects, note) {
    const pictured = objects.filter(at => this.data.image(at)), others = objects.filter(at => !this.data.image(at));
    this.list(title, pictured, note, true);
    this.list(pictured.length ? "Without an image on this page" : title, others, note);
  }

  // The object that is chosen.
  show(at) {
    const {data, words} = this, owner = data.coveredBy[at];
    this.begin(data.name(at));
    this.cluster(at);
    this.picture(words, at, "large");
    this.values(at);
    if (data.isRepresentative[at]) {
      const own = data.clusterOf[at], members = data.covers(at), all = data.standsFor[at];
      element("p", words, `It stands for ${count(all)} of the ${several(data.nMembers[own], "member")} of its cluster, itself included.`);
      this.pictures(members.length < all - 1 ? `${count(members.length)} of its members are on the map` : "Its members", members);
    } else if (owner < 0) element("p", words, "No representative on the map covers it.");
    else this.list("Represented by", [owner], () => `stands for ${count(data.standsFor[owner])}`);
    const near = data.neighbors(at), similar = new Map(near.map(one => [one.at, one.similarity]));
    const compared = data.n > data.nCompared ? `Most similar of the ${count(data.nCompared)} that were compared` : "Most similar to it";
    this.list(compared, near.map(one => one.at), other => Number(similar.get(other).toPrecision(3)).toString());
    element("button", this.lists, "Back", "more").addEventListener("click", () => this.choose(-1));
  }

  // Nothing is chosen: what the map shows, and the representatives that stand for most.
  overview(isShown, shown) {
    const {data, words} = this, sum = values => values.reduce((all, value, own) => all + (shown[own] ? value : 0), 0);
    const names = data.clusters.filter((_, own) => shown[own]);
    if (!names.length) {
      this.begin("No cluster is shown");
      element("p", words, "Choose one above the map.");
      return;
    }
    this.begin(names.length === 1 ? `Cluster ${names[0]}` : several(names.length, "cluster"));
    element("p", words, `${several(sum(data.nRepresentatives), "representative")} for ${several(sum(data.nMembers), "object")}. Choose one on the map, or here.`);
    this.pictures("Representatives, and how many each stands for", data.representatives.filter(isShown), at => count(data.standsFor[at]));
  }

  found(words, objects, isShown) {
    this.begin(objects.length ? `${several(objects.length, "object")} found` : "Nothing is found");
    if (!objects.length) element("p", this.words, `No name, no cluster and no value holds “${words}”.`);
    const hidden = objects.filter(at => !isShown(at)).length;
    if (hidden) element("p", this.words, `${count(hidden)} of them ${hidden === 1 ? "is" : "are"} in clusters that are hidden.`);
    this.list("Found", objects);
  }
}
