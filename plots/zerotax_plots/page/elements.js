"use strict";
// Makes elements of the page and of its drawings. Content is set as text, never as HTML.
const Data = JSON.parse(document.getElementById("data").textContent);
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
function unique(values) {
  return [...new Set(values)];
}
