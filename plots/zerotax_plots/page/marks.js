"use strict";
// The matplotlib markers that plots/zerotax_plots/looks.py uses, as paths around 0,0.
function polygon(corners, radius, turn, inner) {
  let path = "";
  const steps = inner ? 2 * corners : corners;
  for (let n = 0; n < steps; ++n) {
    const angle = turn + (2 * Math.PI * n) / steps,
      r = inner && n % 2 ? radius * inner : radius;
    path += `${n ? "L" : "M"}${(r * Math.sin(angle)).toFixed(2)} ${(-r * Math.cos(angle)).toFixed(2)}`;
  }
  return path + "Z";
}
const CROSS = "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z";
const MARKS = {
  o: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
  s: "M-3.6-3.6h7.2v7.2h-7.2Z",
  "^": polygon(3, 5, 0),
  v: polygon(3, 5, Math.PI),
  "<": polygon(3, 5, -Math.PI / 2),
  ">": polygon(3, 5, Math.PI / 2),
  D: polygon(4, 5, 0),
  d: "M0-5.2L3 0L0 5.2L-3 0Z",
  P: CROSS,
  X: "M-3.2-4.8L0-2.2L3.2-4.8L4.8-3.2L2.2 0L4.8 3.2L3.2 4.8L0 2.2L-3.2 4.8L-4.8 3.2L-2.2 0L-4.8-3.2Z",
  p: polygon(5, 4.8, 0),
  h: polygon(6, 4.6, 0),
  "*": polygon(5, 5.6, 0, 0.45),
};

function dress(element, look) {
  element.style.setProperty("--c", `light-dark(${look.colour}, ${look.dark})`);
  element.style.setProperty("--r", `light-dark(${look.rim}, ${look.dark})`);
  return element;
}

function swatch(look, parent) {
  const box = svg("svg", {class: "swatch", viewBox: "0 0 34 16", "aria-hidden": "true", focusable: "false"}, parent);
  const g = dress(svg("g", {}, box), look);
  svg("path", {class: "line", d: "M0 8H34", "stroke-dasharray": look.dash.join(" ")}, g);
  svg("path", {class: `mark ${look.fill}`, d: MARKS[look.marker] || MARKS.o, transform: "translate(17 8)"}, g);
}
