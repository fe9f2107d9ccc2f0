// The page begins here, and draws itself again when the window or its colors change.

function drawAll() {
  [...byId("classes").children].forEach((button, label) => drawSign(button.firstChild, label));
  drawHistogram(byId("histogram"), model);
  draw();
}

// A page that shows this one in a frame has a heading of its own.
document.body.classList.toggle("framed", window !== window.top);
load(state.data, state.seed);
markStep();
followScroll();
drawAll();
window.addEventListener("scroll", followScroll, { passive: true });
window.addEventListener("resize", () => {
  followScroll();
  drawAll();
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
