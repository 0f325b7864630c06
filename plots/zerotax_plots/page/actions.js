"use strict";
// Actions of the buttons on every page: the theme, copies, and downloads, which are made here without any request.
const byId = id => document.getElementById(id);

const Theme = {
  apply() {
    const wanted = State.get("theme", "");
    if (wanted === "dark" || wanted === "light") document.documentElement.dataset.theme = wanted;
    else delete document.documentElement.dataset.theme;
    for (const button of document.querySelectorAll("[data-set-theme]"))
      button.setAttribute("aria-pressed", String(button.dataset.setTheme === (wanted || "auto")));
  },
  listen() {
    for (const button of document.querySelectorAll("[data-set-theme]"))
      button.addEventListener("click", () =>
        State.set({theme: button.dataset.setTheme === "auto" ? null : button.dataset.setTheme}),
      );
  },
};

function say(text) {
  byId("said").textContent = text;
}

// If the clipboard is refused, as in a page inside another page, the text is selected and copied with the older command.
function copyText(text) {
  const old = () => {
    const area = html("textarea", {class: "hidden", "aria-hidden": "true"}, document.body);
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  if (!navigator.clipboard) return Promise.resolve(old());
  return navigator.clipboard.writeText(text).catch(old);
}

function copies(event) {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = button.dataset.copy || location.href,
    name = button.dataset.name || (button.dataset.name = button.textContent);
  copyText(text).then(() => {
    button.textContent = "Copied";
    say(`Copied: ${text}`);
    setTimeout(() => (button.textContent = name), 1500);
  });
}

function copyButton(text, parent, name, label) {
  const button = html("button", {type: "button", class: "small", "data-copy": text}, parent, name || "Copy");
  if (label) button.setAttribute("aria-label", label);
  return button;
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const anchor = html("a", {href: url, download: name}, document.body);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`Downloaded ${name}`);
}

// CSV by RFC 4180. A cell that a spreadsheet would read as a formula is marked as text.
function csvText(rows) {
  const cell = value => {
    if (typeof value !== "string") return value === null || value === undefined ? "" : String(value);
    const text = "=+@-".includes(value[0]) && value ? `'${value}` : value;
    return [...",\"\r\n"].some(each => text.includes(each)) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map(row => row.map(cell).join(",") + "\r\n").join("");
}

function downloadTable(name, content) {
  const rows = [content.head];
  for (let n = 0; n < content.count; ++n) rows.push(content.row(n));
  download(`${name}.csv`, "text/csv", csvText(rows));
}

// Returns a drawing as a separate file, with its style on the page, a title, and its origin.
const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-weight"];
function svgText(drawn, title) {
  const [, , width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
  const copy = drawn.cloneNode(true),
    styles = getComputedStyle(document.body);
  const from = drawn.querySelectorAll("*"),
    to = copy.querySelectorAll("*");
  from.forEach((element, n) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[n].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "tabindex"]) to[n].removeAttribute(name);
  });
  const whole = svg("svg", {
    xmlns: SVG,
    viewBox: `0 0 ${width} ${height + 54}`,
    width,
    height: height + 54,
    "font-family": styles.fontFamily,
    "font-size": "12px",
  });
  svg("rect", {width: "100%", height: "100%", fill: styles.backgroundColor}, whole);
  const defs = svg("defs", {}, whole);
  for (const pattern of document.querySelectorAll("body > svg pattern")) {
    const path = pattern.cloneNode(true);
    path.firstElementChild.setAttribute("stroke", getComputedStyle(pattern.firstElementChild).stroke);
    defs.append(path);
  }
  svg("text", {x: 8, y: 18, "font-size": "14px", "font-weight": "600", fill: styles.color}, whole, title);
  const body = svg("g", {transform: "translate(0 28)"}, whole);
  body.append(...copy.childNodes);
  const foot = document.querySelector(".run");
  svg("text", {x: 8, y: height + 46, "font-size": "10px", fill: styles.color}, whole, foot ? foot.textContent.trim() : "");
  return new XMLSerializer().serializeToString(whole);
}

// A link to a folded place opens the elements that hide it.
function reveal(id) {
  const target = id && document.getElementById(id);
  if (!target) return null;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const inner = target.querySelector(":scope > details");
  if (inner && target.matches(".finding, .opens")) inner.open = true;
  return target;
}

// On a phone, rows look like boxes. Roles keep them a table for screen readers.
const ROLES = {TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell"};
function withRoles(table) {
  for (const each of [table, ...table.querySelectorAll("*")]) {
    if (each.tagName in ROLES) each.setAttribute("role", ROLES[each.tagName]);
    if (each.tagName === "TH") each.setAttribute("role", each.scope === "row" ? "rowheader" : "columnheader");
  }
}

// Follows a link to evidence: scrolls to the named figure, and moves its cursor to the size.
function go(id, place) {
  const target = reveal(id),
    figure = figures.get(id);
  if (!target) return;
  target.scrollIntoView({block: "start", behavior: "instant"});
  if (figure) figure.frame.plot.focus({preventScroll: true});
  if (figure && figure.rowOf && State.get("lane")) {
    const row = figure.rowOf(State.get("lane"));
    if (row >= 0) figure.frame.row = (row + 0.5) / figure.frame.now.rows;
  }
  if (figure && place) figure.frame.seek(place);
}

// Applies the address: a view, or a place on the page.
function fromAddress() {
  if (!State.read()) return go(decodeURIComponent(location.hash.slice(1)));
  render();
  return go(State.get("go", ""), Number(State.get("at")));
}
