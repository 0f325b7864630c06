"use strict";
// The size whose numbers the page shows, chosen by a click in a figure, by the slider or by the address.
class SizeChoice {
  constructor() {
    this.range = byId("size");
    this.words = byId("size-text");
    this.link = document.querySelector("#allocators .bar [data-copy]");
    this.body = document.querySelector("#allocators tbody");
    this.every = byId("at-size");
    this.unlike = byId("kinds");
    this.rows = new Map([...this.body.querySelectorAll("tr")].map(row => [row.dataset.name, row]));
    this.range.addEventListener("input", () => State.set({at: this.places[this.range.value]}, true));
    this.range.addEventListener("change", () => State.show());
    this.every.addEventListener("toggle", () => this.fillEvery());
    for (const [name, row] of this.rows) {
      const line = Points.series.find(each => each.name === name);
      if (line) swatch(line, row.querySelector(".dot"));
      row.addEventListener("pointerenter", () => light(name));
      row.addEventListener("pointerleave", () => light(null));
    }
  }

  // Returns the measured size nearest to the address, or the headline's size if the address has none.
  place() {
    const asked = Number(State.get("at", Data.at || 0));
    return this.places.length ? d3.leastIndex(this.places, (a, b) => Math.abs(a - asked) - Math.abs(b - asked)) : -1;
  }

  render(figure) {
    const now = view();
    this.groups = now.groups;
    this.places = unique([].concat(...now.groups.map(([, , , , from, to]) => Points.sizes.slice(from, to)))).sort(
      (a, b) => a - b,
    );
    const n = this.place();
    this.range.max = Math.max(0, this.places.length - 1);
    this.range.value = Math.max(0, n);
    this.range.disabled = n < 0;
    const size = n < 0 ? null : this.places[n];
    const text = size === null ? "no size" : placeText("bytes", size);
    this.words.textContent = text;
    this.range.setAttribute("aria-valuetext", text);
    if (size !== null) {
      const link = new URLSearchParams([...new Map([...State.values, ["at", size], ["go", "time"]])]);
      this.link.dataset.copy = `${location.href.split("#")[0]}#${link}`;
    }
    byId("at-head").textContent = size === null ? "At a size" : `At ${givenSizeText(size)}`;
    if (figure) figure.classList.toggle("placed", n >= 0);
    this.size = size;
    this.fill();
    this.fillEvery();
  }

  // Returns the row of a line at the size, or -1.
  rowOf(name) {
    const group = this.groups.find(each => Points.series[each[3]].name === name);
    if (!group) return -1;
    const [, , , , from, to] = group,
      at = d3.bisectLeft(Points.sizes, this.size, from, to);
    return at < to && Points.sizes[at] === this.size ? at : -1;
  }

  text(key, row) {
    const column = Columns.get(key);
    if (row < 0 || !column) return "not measured";
    const value = column.values[row];
    return value < 0 ? why(value) : valueText(column.unit, value);
  }

  // Shortens a text for a narrow cell. The title contains the whole text.
  short(key, row) {
    const column = Columns.get(key);
    if (row < 0 || !column) return "—";
    const value = column.values[row];
    return value < 0 ? "n/a" : valueText(column.unit, value, true);
  }

  fill() {
    this.unlike.replaceChildren();
    for (const [name, row] of this.rows) {
      const at = this.rowOf(name);
      for (const cell of row.querySelectorAll("[data-key]")) {
        cell.textContent = this.short(cell.dataset.key, at);
        cell.title = this.text(cell.dataset.key, at);
        cell.classList.toggle("median", at in Points.kinds);
      }
      if (at in Points.kinds) this.tellKinds(name, Points.kinds[at]);
    }
  }

  // The table shows medians. If a point has several kinds of calls, the kinds are listed below the point.
  tellKinds(name, lines) {
    const words = html("p", {}, this.unlike);
    html("b", {}, words, name);
    words.append(`: the calls at this size are not alike; the table has their median (*).`);
    const list = html("ul", {}, this.unlike);
    for (const line of lines) html("li", {}, list, line);
  }

  // Fills the table of every metric of every allocator at the size, when it is opened.
  fillEvery() {
    if (!this.every.open || this.size === null) return;
    const names = this.groups.map(group => Points.series[group[3]].name);
    const figures = Points.figures.filter(figure => figure.values.some(value => value >= 0));
    this.table = this.table || new PagedTable(this.every.querySelector("div"), "Every metric at the chosen size");
    this.table.show({
      head: ["metric", ...names],
      count: figures.length,
      row: n => [figures[n].name, ...names.map(name => this.text(figures[n].key, this.rowOf(name)))],
    });
  }
}

// Highlights one line: the others fade while the pointer is on a row or a name.
function light(name) {
  for (const line of document.querySelectorAll(".plot [data-line], .plot [data-name]")) {
    const its = line.dataset.line || line.dataset.name;
    line.classList.toggle("dim", name !== null && its !== name);
  }
}
