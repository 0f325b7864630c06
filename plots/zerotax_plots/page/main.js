"use strict";
const figures = new Map();

// The columns that the select of a figure offers.
function choices(id, units) {
  const select = byId(id).querySelector("select");
  const keys = Points.figures
    .filter(figure => units.includes(figure.unit) && !figure.key.startsWith("calloc_p"))
    .map(figure => figure.key);
  for (const key of keys) html("option", {value: key}, select, Columns.get(key).name);
  select.addEventListener("change", () => State.set({[`${id}.f`]: select.value}));
  return () => {
    const asked = State.get(`${id}.f`, keys[0]);
    return (select.value = keys.includes(asked) ? asked : keys[0]);
  };
}

function pointFigure(id, units, height) {
  const chosen = choices(id, units);
  const source = () => {
    const column = Columns.get(chosen()),
      now = view();
    return {
      lines: linesOf(column.key, shown()),
      x: "bytes",
      y: column.unit,
      height,
      pins: true,
      xname: "size asked of calloc",
      yname: column.name,
      words: `${column.name} by size: ${now.case}, touch ${now.touch}, ${now.thread} thread`,
    };
  };
  figures.set(id, new LineChart(byId(id), source, true));
}

function receivingFigure() {
  if (!byId("receiving") || !Columns.has("mb_per_s")) return;
  figures.set(
    "receiving",
    new LineChart(
      byId("receiving"),
      () => {
        const off = new Set(State.list("off")),
          wanted = Points.cases.indexOf(State.get("receiving.c", "recv_buffer"));
        const groups = Points.groups.filter(
          group => group[0] === wanted && group[1] === 0 && !off.has(Points.series[group[3]].name),
        );
        return {
          lines: linesOf("mb_per_s", groups),
          x: "bytes",
          y: "rate",
          xname: "size of the buffer",
          yname: "MB received per second",
          words: "Megabytes received per second by size of the buffer",
        };
      },
      true,
    ),
  );
}

function documentFigure(id, chart) {
  if (!byId(id) || !chart) return;
  figures.set(id, new LineChart(byId(id), () => ({...chart, words: `${chart.yname} by ${chart.xname}`}), chart.xlog));
}

function options(select, values, text, chosen) {
  select.replaceChildren();
  for (const value of values) html("option", {value}, select, text(value));
  select.value = String(chosen);
  select.closest("label").hidden = values.length < 2;
}

function controls() {
  const now = view();
  options(byId("case"), Points.cases, value => value, now.case);
  options(
    byId("touch"),
    now.touches,
    value => {
      const name = plainText(value);
      return name in Data.touches ? `${Data.touches[name]} (${name})` : `touch ${name}`;
    },
    now.touch,
  );
  options(byId("thread"), now.threads, value => value, now.thread);
  const off = new Set(State.list("off"));
  for (const box of document.querySelectorAll("#names input")) box.checked = !off.has(box.value);
  for (const row of document.querySelectorAll("#allocators tbody tr")) row.classList.toggle("off", off.has(row.dataset.name));
}

function listen() {
  for (const key of ["case", "touch", "thread"])
    byId(key).addEventListener("change", event => State.set({[key]: event.target.value}));
  const names = byId("names");
  for (const line of Points.series) {
    const label = html("label", {}, names);
    html("input", {type: "checkbox", value: line.name}, label);
    swatch(line, label);
    html("span", {}, label, line.name);
    label.addEventListener("pointerenter", () => light(line.name));
    label.addEventListener("pointerleave", () => light(null));
  }
  const every = () => [...names.querySelectorAll("input")];
  names.addEventListener("change", () =>
    State.set({
      off: every()
        .filter(box => !box.checked)
        .map(box => box.value)
        .join("\n"),
    }),
  );
  byId("all-on").addEventListener("click", () => State.set({off: null}));
  byId("all-off").addEventListener("click", () => State.set({off: Points.series.map(line => line.name).join("\n")}));
}

// Returns every point as measured: for the table those of the selected allocators, for a file (`raw`) all of them.
function pointRows(raw) {
  const status = raw ? "all" : byId("status").value,
    off = new Set(raw ? [] : State.list("off")),
    rows = [];
  for (const [c, touch, thread, s, from, to] of Points.groups) {
    if (off.has(Points.series[s].name)) continue;
    for (let row = from; row < to; ++row)
      if (status === "all" || row in Points.status) rows.push([c, touch, thread, s, row]);
  }
  const figuresShown = Points.figures.filter(figure => raw || !figure.key.startsWith("calloc_p"));
  const cellOf = (figure, row) => {
    const value = figure.values[row];
    if (value >= 0) return raw ? value : valueText(figure.unit, value);
    return row in Points.status ? "" : why(value);
  };
  return {
    head: ["allocator", "case", raw ? "size_bytes" : "size", "touch", "thread"].concat(
      figuresShown.map(figure => (raw ? figure.key : figure.name)),
      [raw ? "status" : "ended"],
    ),
    count: rows.length,
    row: n => {
      const [c, touch, thread, s, row] = rows[n];
      return [
        Points.series[s].name,
        Points.cases[c],
        raw ? Points.sizes[row] : placeText("bytes", Points.sizes[row]),
        raw ? touch : String(touch),
        thread,
        ...figuresShown.map(figure => cellOf(figure, row)),
        row in Points.status ? why(Points.status[row]) : "ok",
      ];
    },
  };
}

function pointsJson() {
  const points = [],
    valueOf = value => (value < 0 ? {na: why(value)} : value);
  for (const [c, touch, thread, s, from, to] of Points.groups)
    for (let row = from; row < to; ++row)
      points.push({
        allocator: Points.series[s].name,
        case: Points.cases[c],
        size_bytes: Points.sizes[row],
        touch,
        thread,
        status: row in Points.status ? why(Points.status[row]) : "ok",
        ...Object.fromEntries(Points.figures.map(figure => [figure.key, valueOf(figure.values[row])])),
      });
  return JSON.stringify({run: Data.run, points}, null, 1);
}

// Draws only what a change affects: a new size redraws a line and a table, a zoom redraws its figure.
function render(keys) {
  const only = test => keys && keys.length && keys.every(test);
  if (only(key => key === "theme")) Theme.apply();
  if (!only(key => key === "at" || key === "theme")) {
    const own = key => key.includes(".") && figures.has(key.split(".")[0]);
    const zoomed = only(own) && new Set(keys.map(key => key.split(".")[0]));
    Theme.apply();
    if (!zoomed) controls();
    for (const [id, figure] of figures) if (!zoomed || zoomed.has(id)) figure.render();
    if (!zoomed && byId("every").open) everyPoint.show(pointRows());
  }
  if (sizes) sizes.render(byId("time"));
  for (const figure of figures.values()) if (figure.frame.x) figure.frame.drawPin();
}

// A link changes only the parts of the view that the link names. The theme and deselected allocators, for example,
// stay.
function follow(event) {
  const anchor = event.target.closest("a[href^='#']");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!anchor.hash.includes("=")) {
    reveal(decodeURIComponent(anchor.hash.slice(1)));
    return;
  }
  event.preventDefault();
  const wanted = new Map(new URLSearchParams(anchor.hash.slice(1))),
    id = wanted.get("go");
  wanted.delete("go");
  State.set({[`${id}.x`]: null, at: null, lane: null, ...Object.fromEntries(wanted)});
  go(id, Number(wanted.get("at")));
}

const everyPoint = new PagedTable(byId("every").querySelector("div"), "Points");
State.read();
listen();
Theme.listen();
const sizes = Points.groups.length ? new SizeChoice() : null;
if (Points.groups.length) {
  pointFigure("time", ["time"], 310);
  pointFigure("faults", ["count"], 260);
  pointFigure("bytes", ["bytes"], 260);
  figures.set("heat", new HeatMap(byId("heat")));
  receivingFigure();
}
if (byId("map")) figures.set("map", new LaneMap(byId("map"), Data.thresholds));
documentFigure("forked", Data.fork);
documentFigure("snapped", Data.snapshot);
documentFigure("copied", Data.cow);
byId("every").addEventListener("toggle", () => {
  if (byId("every").open) everyPoint.show(pointRows());
});
byId("status").addEventListener("change", () => {
  everyPoint.page = 0;
  everyPoint.show(pointRows());
});
byId("points-csv").addEventListener("click", () => downloadTable("zerotax-points", pointRows(true)));
byId("points-json").addEventListener("click", () => download("zerotax-points.json", "application/json", pointsJson()));
State.listeners.push(render);
document.addEventListener("click", copies);
document.addEventListener("click", follow);
for (const table of document.querySelectorAll("main table")) withRoles(table);
render();
if (location.hash) fromAddress();
addEventListener("hashchange", fromAddress);
document.documentElement.dataset.ready = "yes";
