"use strict";
const Theme = {
  apply() {
    const wanted = State.get("theme", "");
    if (wanted === "dark" || wanted === "light") document.documentElement.dataset.theme = wanted;
    else delete document.documentElement.dataset.theme;
    for (const button of document.querySelectorAll("[data-set-theme]")) {
      button.setAttribute("aria-pressed", String(button.dataset.setTheme === (wanted || "auto")));
    }
  },
};

const figures = new Map();
const byId = id => document.getElementById(id);

// The columns that a figure can show, in its own select.
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

function pointFigure(id, units) {
  const chosen = choices(id, units);
  const source = () => {
    const column = Columns.get(chosen()),
      now = view();
    return {
      lines: linesOf(column.key, shown()),
      x: "bytes",
      y: column.unit,
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
  select.disabled = values.length < 2;
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
  for (const button of document.querySelectorAll("[data-set-theme]")) {
    button.addEventListener("click", () =>
      State.set({theme: button.dataset.setTheme === "auto" ? null : button.dataset.setTheme}),
    );
  }
}

// Every point, as it was measured, a page at a time.
function pointRows() {
  const status = byId("status").value,
    off = new Set(State.list("off")),
    rows = [];
  for (const [c, touch, thread, s, from, to] of Points.groups) {
    if (off.has(Points.series[s].name)) continue;
    for (let row = from; row < to; ++row)
      if (status === "all" || row in Points.status) rows.push([c, touch, thread, s, row]);
  }
  const figuresShown = Points.figures.filter(figure => !figure.key.startsWith("calloc_p"));
  return {
    head: ["allocator", "case", "size", "touch", "thread", ...figuresShown.map(figure => figure.name), "ended"],
    count: rows.length,
    row: n => {
      const [c, touch, thread, s, row] = rows[n];
      const cells = figuresShown.map(figure =>
        figure.values[row] < 0
          ? row in Points.status
            ? ""
            : why(figure.values[row])
          : valueText(figure.unit, figure.values[row]),
      );
      return [
        Points.series[s].name,
        Points.cases[c],
        placeText("bytes", Points.sizes[row]),
        String(touch),
        thread,
        ...cells,
        row in Points.status ? why(Points.status[row]) : "ok",
      ];
    },
  };
}

function render() {
  Theme.apply();
  controls();
  for (const figure of figures.values()) figure.render();
  if (byId("every").open) everyPoint.show(pointRows());
}

// A link to evidence: the figure it names comes into sight, its cursor at the size.
function go(id, place) {
  const target = byId(id),
    figure = figures.get(id);
  if (!target) return;
  target.scrollIntoView({block: "start", behavior: "instant"});
  if (figure) figure.frame.plot.focus({preventScroll: true});
  if (figure && place) figure.frame.seek(place);
}

// Such a link changes what it names and leaves the rest of the view: theme, allocators that are off.
function follow(event) {
  const anchor = event.target.closest("a[href^='#']");
  if (!anchor || !anchor.hash.includes("=") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const wanted = new Map(new URLSearchParams(anchor.hash.slice(1))),
    id = wanted.get("go");
  wanted.delete("go");
  State.set({[`${id}.x`]: null, at: null, ...Object.fromEntries(wanted)});
  go(id, Number(wanted.get("at")));
}

const everyPoint = new PagedTable(byId("every").querySelector("div"), "Points");
State.read();
listen();
if (Points.groups.length) {
  pointFigure("time", ["time"]);
  pointFigure("faults", ["count"]);
  pointFigure("bytes", ["bytes"]);
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
State.listeners.push(render);
document.addEventListener("click", follow);
render();
go(State.get("go", ""), Number(State.get("at")));
addEventListener("hashchange", () => {
  if (State.read()) {
    render();
    go(State.get("go", ""), Number(State.get("at")));
  }
});
document.documentElement.dataset.ready = "yes";
