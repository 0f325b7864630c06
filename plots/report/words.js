"use strict";
// Figures in the units people use, as plots/zerotax_units.py writes them.
const UNITS = [
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

function digits(value, most) {
  return String(Number(value.toPrecision(most)));
}
function counted(value) {
  return value.toLocaleString("en-US", {maximumFractionDigits: value < 10 ? 2 : 0});
}

function sizeText(size) {
  for (const [unit, name] of UNITS) if (size >= unit && size % unit === 0) return `${size / unit} ${name}`;
  if (size && size % 1e6 === 0) return `${size / 1e6} MB`;
  const [unit, name] = UNITS.find(([each]) => size >= each) || UNITS[3];
  return `${digits(size / unit, 4)} ${name}`;
}

function timeText(ns) {
  const [unit, name] = TIMES.find(([each]) => ns >= each * 0.9995) || TIMES[3];
  return `${digits(ns / unit, 3)} ${name}`;
}

// A value in its unit, exactly; `short` for axes and cells.
function valueText(unit, value, short) {
  if (unit === "time") return timeText(value);
  if (unit === "rate") return `${counted(value < 10 ? value : Math.round(value))} MB/s`;
  if (unit === "ms") return `${digits(value, 4)} ms`;
  if (unit === "share") return `${Math.round(100 * value)} %`;
  if (unit === "bytes") return short ? sizeText(value) : `${counted(value)} B`;
  return short && value >= 1e4
    ? value.toLocaleString("en-US", {notation: "compact", maximumSignificantDigits: 3})
    : counted(value);
}

function placeText(unit, value) {
  const text = unit === "bytes" ? sizeText(value) : valueText(unit, value);
  return unit === "bytes" && !text.endsWith(" B") ? `${text} (${counted(value)} B)` : text;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}
function html(name, attributes, parent, text) {
  const element = document.createElement(name);
  for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}
