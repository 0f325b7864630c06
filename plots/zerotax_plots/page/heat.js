"use strict";
// A heat map of sizes and allocators. Each cell is a share of the block, or a time or count on a log scale. If there are
// too many sizes, neighbors share a cell, which shows their largest value. The address names the column.
const HEATS = new Map([
  ["redundant", "redundant_share"],
  ["zeroed", "zeroed_share"],
  ["calloc_ns", "calloc_ns"],
  ["calloc_faults", "calloc_faults"],
]);

// Shades of the color, on the light and on the dark background: as many as are distinguishable.
const SHADES = 128;
const WIDEST = 9; // upper bound of the average width of a letter, in pixels
const shades = new Map();

function shade(depth) {
  const step = Math.round(depth * SHADES);
  if (!shades.has(step)) {
    const colours = [d3.interpolateLab("#fbf3ec", "#8f2a14"), d3.interpolateLab("#262b30", "#ff8a6b")].map(ground =>
      ground(step / SHADES),
    );
    const both = pick => `light-dark(${colours.map(pick).join(", ")})`;
    shades.set(step, {
      ground: both(colour => colour),
      ink: both(colour => (d3.lab(colour).l < 49 ? "#ffffff" : "#000000")),
    });
  }
  return shades.get(step);
}

class HeatMap {
  constructor(figure) {
    this.figure = figure;
    this.choice = figure.querySelector("select");
    for (const [key, column] of HEATS)
      if (Columns.has(column)) html("option", {value: key}, this.choice, Columns.get(column).name);
    this.choice.addEventListener("change", () => State.set({"heat.f": this.choice.value}));
    this.frame = new Frame(figure, () => this.model());
    this.frame.content = raw => this.content(raw);
    this.table = new FigureTable(figure, () => this.content());
  }
  render() {
    this.frame.render();
    this.table.refresh();
  }
  key() {
    const key = State.get("heat.f", "redundant");
    return HEATS.has(key) && Columns.has(HEATS.get(key)) ? key : "redundant";
  }
  column() {
    return Columns.get(HEATS.get(this.key()));
  }
  unit() {
    return this.column().unit;
  }
  share() {
    return this.unit() === "share";
  }

  read() {
    this.choice.value = this.key();
    this.lines = linesOf(this.column().key, shown());
    this.places = unique([].concat(...this.lines.map(line => line.xs))).sort((a, b) => a - b);
    const known = [].concat(...this.lines.map(line => line.ys.filter(value => value > 0)));
    this.low = d3.min(known) || 1;
    this.high = d3.max(known) || 1;
  }

  // Returns the strength of the color, from 0 to 1.
  depth(value) {
    if (this.share()) return value;
    if (value <= 0) return 0;
    return this.high > this.low ? 0.08 + (0.92 * Math.log(value / this.low)) / Math.log(this.high / this.low) : 1;
  }

  model() {
    this.read();
    const rows = this.lines.length;
    return {
      xunit: "bytes",
      xlog: true,
      low: this.places[0],
      high: this.places[this.places.length - 1],
      places: this.places,
      rows,
      height: Math.max(40, rows * 30),
      left: 132,
      pins: true,
      xname: "size asked of calloc",
      words: `Heat map: ${this.column().name}, by size and allocator`,
      empty: rows ? "" : "Nothing is chosen: switch an allocator on.",
      draw: (...how) => this.draw(...how),
      say: (...which) => this.say(...which),
    };
  }

  // Returns the cells of a line: first pixel, last pixel, and the largest value, or null and the reason.
  cells(line, x, width) {
    const edges = this.places.map((place, n) => {
      const before = n ? this.places[n - 1] : place / 1.1;
      return x(Math.sqrt(place * before));
    });
    edges.push(x(this.places[this.places.length - 1] * 1.1));
    const found = [];
    line.xs.forEach((size, n) => {
      const at = d3.bisectLeft(this.places, size),
        from = Math.max(0, edges[at]),
        to = Math.min(width, edges[at + 1]);
      if (to <= from) return;
      const cell = {
        from,
        to,
        value: line.ys[n],
        na: line.na[n],
        ended: line.ys[n] === null && line.ended.some(end => end.x === size),
      };
      const last = found[found.length - 1];
      if (!last || (last.to - last.from >= 3 && to - from >= 3) || last.to - last.from >= 3) {
        found.push(cell);
        return;
      }
      last.to = to;
      if (cell.ended || (cell.value !== null && (last.value === null ? !last.ended : cell.value > last.value)))
        Object.assign(last, {value: cell.value, na: cell.na, ended: cell.ended});
    });
    return found;
  }

  draw(layer, x, width, height, clip) {
    const tall = height / this.lines.length,
      inside = svg("g", {"clip-path": clip}, layer);
    this.lines.forEach((line, n) => {
      const name = svg("text", {x: -6, y: (n + 0.5) * tall + 4, "text-anchor": "end"}, layer, line.name);
      this.fit(name, line.name, this.frame.margin.left - 8);
      for (const cell of this.cells(line, x, width)) {
        const box = {x: cell.from, y: n * tall, width: cell.to - cell.from, height: tall, class: "cell"};
        const look = cell.value === null ? null : shade(this.depth(cell.value));
        const rect = svg("rect", {...box, fill: "url(#na)"}, inside);
        if (look) rect.style.fill = look.ground;
        if (box.width < 30 && !cell.ended) continue;
        const text = cell.ended
          ? "×"
          : cell.value === null
            ? "n/a"
            : valueText(this.unit(), cell.value, true).replace(" ", "");
        if (text.length * 7 > box.width && !cell.ended) continue;
        const label = svg(
          "text",
          {x: (cell.from + cell.to) / 2, y: (n + 0.5) * tall + 4, "text-anchor": "middle"},
          inside,
          text,
        );
        if (look) label.style.fill = look.ink;
      }
    });
  }

  fit(text, name, room) {
    let length = name.length;
    // Measuring a text makes the browser lay out the page, so texts that are certainly short enough are not measured.
    if (length * WIDEST > room)
      while (length > 3 && text.getComputedTextLength() > room) text.textContent = `${name.slice(0, --length)}…`;
    svg("title", {}, text, name);
  }

  say(place, row, cursor) {
    const at = this.places[place],
      tall = this.frame.size / this.lines.length;
    const chosen =
      row === undefined ? -1 : Math.min(Math.max(Math.floor(row * this.lines.length), 0), this.lines.length - 1);
    const lines = chosen < 0 ? this.lines : [this.lines[chosen]];
    if (chosen >= 0)
      svg(
        "rect",
        {class: "chosen", x: this.frame.x(at) - 5, y: chosen * tall + 1, width: 10, height: tall - 2},
        cursor,
      );
    const rows = lines.slice(0, MOST_TOLD).map(line => {
      const n = d3.bisectLeft(line.xs, at),
        value = line.xs[n] === at ? line.ys[n] : undefined;
      if (value === undefined) return {look: line, name: line.name, text: "not measured"};
      if (value === null)
        return {
          look: line,
          name: line.name,
          text: line.na[n],
        };
      return {look: line, name: line.name, text: valueText(this.unit(), value) + (this.share() ? ` of the block` : "")};
    });
    return {title: placeText("bytes", at), rows, notes: [this.column().name]};
  }

  content(raw) {
    this.read();
    return {
      head: [raw ? "size (bytes)" : "size", ...this.lines.map(line => line.name)],
      count: this.places.length,
      row: n => [
        raw ? this.places[n] : placeText("bytes", this.places[n]),
        ...this.lines.map(line => {
          const at = d3.bisectLeft(line.xs, this.places[n]);
          if (line.xs[at] !== this.places[n]) return "";
          return line.ys[at] === null ? line.na[at] : raw ? line.ys[at] : valueText(this.unit(), line.ys[at]);
        }),
      ],
    };
  }
}
