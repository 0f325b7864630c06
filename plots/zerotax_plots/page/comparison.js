"use strict";
// Shows before and after on one chart, or the versions of a project along its axis. The user chooses the view and the metric.
const figures = new Map();

function chosenView() {
  const view = Data.views.find(each => each.name === State.get("view")) || Data.views[0];
  const chart =
    view.charts.find(each => each.key === State.get("metric")) ||
    view.charts.find(each => each.changed) ||
    view.charts[0];
  return {view, chart};
}

function fill(select, values, chosen) {
  select.replaceChildren();
  for (const [value, text] of values) html("option", {value}, select, text);
  select.value = chosen;
  select.closest("label").hidden = values.length < 2;
}

function source() {
  const {view, chart} = chosenView(),
    names = Data.names;
  return {
    lines: chart ? chart.lines : [],
    x: names ? "count" : "bytes",
    y: chart ? chart.unit : "count",
    xname: names ? "version" : "size asked of calloc",
    yname: chart ? chart.name : "",
    height: 320,
    pins: !names,
    steps: !names && Boolean(chart),
    tick: names ? value => names[value] : undefined,
    words: `${chart ? chart.name : "nothing"}: ${view.name}`,
  };
}

function render(keys) {
  Theme.apply();
  if (keys && keys.length && keys.every(key => key === "theme" || key === "at")) {
    for (const figure of figures.values()) figure.frame.drawPin();
    return;
  }
  if (Data.views.length) {
    const {view, chart} = chosenView();
    fill(byId("view"), Data.views.map(each => [each.name, each.name]), view.name);
    const metrics = view.charts.map(each => [each.key, each.name + (each.changed ? " (changed)" : "")]);
    fill(byId("metric"), metrics, chart ? chart.key : "");
  }
  for (const figure of figures.values()) figure.render();
}

State.read();
Theme.listen();
if (Data.views.length) {
  byId("view").addEventListener("change", event => State.set({view: event.target.value, "chart.x": null}));
  byId("metric").addEventListener("change", event => State.set({metric: event.target.value}));
  figures.set("chart", new LineChart(byId("chart"), source, !Data.names));
}
if (Data.map) figures.set("map", new LaneMap(byId("map"), Data.map));
State.listeners.push(render);
document.addEventListener("click", copies);
for (const table of document.querySelectorAll("main table")) withRoles(table);
render();
if (location.hash) fromAddress();
addEventListener("hashchange", fromAddress);
document.documentElement.dataset.ready = "yes";
